// source brings lines to the page: {hello} first, then {frame}s. The page does not know where they are from: a
// server, a recording, or a program in this tab (see tab.js). A source has start(listener)
// and stop(); listener has line(object, text), state(word, text), and again(), after which a {hello} begins anew.
import { inTab, reach } from "./tab.js";

// The token comes in the part of the address that browsers keep to themselves. It stays in this tab. A program in this tab
// obeys whoever has the tab.
export const token = inTab ? "this tab" : (() => {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem("kinform-token", given);
    const rest = new URLSearchParams(location.hash.slice(1));
    rest.delete("token");
    history.replaceState(null, "", location.pathname + location.search + (rest.size ? "#" + rest : ""));
  }
  return given ?? sessionStorage.getItem("kinform-token") ?? "";
})();

function headers() { return token ? { Authorization: "Bearer " + token } : {}; }

// ServerSource reads server-sent events. It does so with reach, because an EventSource cannot send a token, nor does it
// say why it was refused.
export class ServerSource {
  constructor(of) { this.of = of; }

  start(listener) {
    this.listener = listener;
    this.abort = new AbortController();
    this.run();
  }

  stop() { this.abort.abort(); }

  async run() {
    const { signal } = this.abort;
    for (let wait = 500; !signal.aborted; wait = Math.min(wait * 2, 8000)) {
      try {
        const answer = await reach("stream?of=" + encodeURIComponent(this.of), { headers: headers(), signal, cache: "no-store" });
        if (!answer.ok) throw new Error((await answer.text()).trim() || answer.statusText);
        wait = 500;
        await this.read(answer.body.getReader());
        this.listener.state("lost", "the program has ended the stream");
      } catch (e) {
        if (signal.aborted) return;
        this.listener.state("lost", e.message);
      }
      await new Promise((next) => setTimeout(next, wait));
    }
  }

  async read(reader) {
    const decoder = new TextDecoder();
    for (let rest = ""; ;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = lines.pop();
      for (const line of lines) {
        if (line.startsWith("data: ")) this.listener.line(JSON.parse(line.slice(6)), line.slice(6));
      }
    }
  }
}

// parts returns the index of all pipelines.
export async function parts() {
  const answer = await reach("parts", { headers: headers(), cache: "no-store" });
  if (!answer.ok) throw new Error((await answer.text()).trim() || answer.statusText);
  return answer.json();
}

// recorded returns the recording that the program shows.
export async function recorded() {
  const answer = await reach("recording", { headers: headers(), cache: "no-store" });
  if (!answer.ok) throw new Error((await answer.text()).trim() || answer.statusText);
  return answer.text();
}

// act does what the laboratory can do. It returns a sentence about it.
export async function act(action, values) {
  const answer = await reach("do", {
    method: "POST", headers: { ...headers(), "Content-Type": "application/json" }, body: JSON.stringify({ action, values }),
  });
  if (!answer.ok) throw new Error((await answer.text()).trim() || answer.statusText);
  return (await answer.json()).done;
}

// lookup asks for the values of indexes, and for the objects of one of them.
export async function lookup(of, index, value) {
  const query = new URLSearchParams({ of });
  if (index != null) { query.set("index", index); query.set("value", value); }
  const answer = await reach("lookup?" + query, { headers: headers(), cache: "no-store" });
  if (!answer.ok) throw new Error((await answer.text()).trim() || answer.statusText);
  return answer.json();
}

// projected asks for an object, as the server and as the store has it: for that of a key, or for any.
export async function projected(of, key) {
  const query = new URLSearchParams({ of });
  if (key != null) query.set("key", key);
  const answer = await reach("object?" + query, { headers: headers(), cache: "no-store" });
  if (!answer.ok) throw new Error((await answer.text()).trim() || answer.statusText);
  return answer.json();
}
