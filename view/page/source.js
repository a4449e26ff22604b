// source delivers lines to the page: {hello} first, then {frame}s. The page does not know whether
// the lines come from a server, a recording, or a program in this tab (see tab.js). A source has
// start(listener) and stop(). The listener has line(object, text), state(word, text) and again().
// After again(), a new {hello} follows.
import { inTab, reach } from "./tab.js";

// The one-time code is in the fragment of the address, which browsers do not send. The page
// exchanges the code for a session, which all tabs with this page share. The session is in the
// storage of the origin, which belongs to one port. Browsers would send cookies to every port of
// the machine. A program in this tab needs no session, because it belongs to the owner of the tab.
const place = "kinform-session " + new URL(".", location.href).pathname;
export let session = inTab ? "this tab" : stored() ?? "";

// If the browser has no storage for the page, the session belongs to this tab until the tab reloads
// the page.
function stored() { try { return localStorage.getItem(place); } catch { return null; } }

function keep(given) {
  session = given;
  try { given ? localStorage.setItem(place, given) : localStorage.removeItem(place); } catch { /* as above */ }
}

let code = (() => {
  const rest = new URLSearchParams(location.hash.slice(1)), given = rest.get("code");
  if (inTab || given === null) return "";
  rest.delete("code");
  history.replaceState(null, "", location.pathname + location.search + (rest.size ? "#" + rest : ""));
  return given;
})();

// If a user pastes an address into a tab with this page, only the fragment with the code changes.
// The page is not reloaded.
if (!inTab) addEventListener("hashchange", () => { if (new URLSearchParams(location.hash.slice(1)).has("code")) location.reload(); });

// refusal is the reason why the page has no access. It is "" if the page has access or has not
// tried yet.
export let refusal = "";

let lock = () => {};

// onLocked sets the function listener(why), which is called when the program requests its token.
export function onLocked(listener) { lock = listener; }

// entered settles when the code has been exchanged, or when it is known whether an old session is
// still valid.
let entered = enter();

async function enter() {
  if (inTab || !(code || session)) return;
  const answer = await post("session", { code });
  if (answer.status === 401) { refusal = await said(answer); keep(""); } else if (answer.ok) keepOf(await answer.json());
  code = "";
}

// enterWith sends the token, which gives the page access. It throws an Error if the token is wrong.
export async function enterWith(token) {
  const answer = await post("session", { token });
  if (!answer.ok) throw new Error(await said(answer));
  keepOf(await answer.json());
}

function keepOf(answer) { refusal = answer.why ?? ""; keep(answer.session); }

const said = async (answer) => (await answer.text()).trim() || answer.statusText;

// wrong returns the Error for a failed response.
async function wrong(answer) {
  const text = await said(answer), why = answer.status === 401 && refusal || text;
  if (answer.status === 401) lock(why);
  return new Error(why);
}

function headers() { return session ? { Authorization: "Bearer " + session } : {}; }

function post(path, body) {
  return reach(path, { method: "POST", headers: { ...headers(), "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

// get requests a path of the program, with the session of the page.
async function get(path, signal) {
  await entered.catch(() => {}); // If the exchange failed, the request itself reports the reason.
  const answer = await reach(path, { headers: headers(), signal, cache: "no-store" });
  if (!answer.ok) throw await wrong(answer);
  return answer;
}

// ServerSource reads server-sent events. It uses reach, because an EventSource cannot send a
// session, and does not report why it was refused.
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
        const answer = await get("stream?of=" + encodeURIComponent(this.of), signal);
        wait = 500;
        const gaveWay = await this.read(answer.body.getReader());
        this.listener.state("lost", gaveWay ? "too many viewers: the program disconnected this page to admit another viewer" : "the program has ended the stream");
        if (gaveWay) wait = gaveWay;
      } catch (e) {
        if (signal.aborted) return;
        this.listener.state("lost", e.message);
      }
      entered = entered.then(enter, enter); // The program may have been restarted meanwhile.
      await new Promise((next) => setTimeout(next, wait));
    }
  }

  // read returns the reconnect delay, or 0 if the program has not sent a delay.
  async read(reader) {
    const decoder = new TextDecoder();
    for (let rest = "", again = 0; ;) {
      const { done, value } = await reader.read();
      if (done) return again;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = lines.pop();
      for (const line of lines) {
        if (line.startsWith("retry: ")) again = Number(line.slice(7));
        if (line.startsWith("data: ")) this.listener.line(JSON.parse(line.slice(6)), line.slice(6));
      }
    }
  }
}

// parts returns the index of all pipelines.
export const parts = async () => (await get("parts")).json();

// recorded returns the recording that the program serves.
export const recorded = async () => (await get("recording")).text();

// act performs an action of the laboratory. It returns a sentence that describes the effect.
export async function act(action, values) {
  const answer = await post("do", { action, values });
  if (!answer.ok) throw await wrong(answer);
  return (await answer.json()).done;
}

// lookup requests the values of indexes, and the objects with one of the values.
export async function lookup(of, index, value) {
  const query = new URLSearchParams({ of });
  if (index != null) { query.set("index", index); query.set("value", value); }
  return (await get("lookup?" + query)).json();
}

// projected requests the sizes of an object: of the server's version and of the stored version.
// Without a key, the program chooses the object.
export async function projected(of, key) {
  const query = new URLSearchParams({ of });
  if (key != null) query.set("key", key);
  return (await get("object?" + query)).json();
}
