// source brings lines to the page: {hello} first, then {frame}s. The page does not know where they are from: a
// server, a recording, or a program in this tab (see tab.js). A source has start(listener)
// and stop(); listener has line(object, text), state(word, text), and again(), after which a {hello} begins anew.
import { inTab, reach } from "./tab.js";

// The address has a one-time code in the part that browsers keep to themselves. The page exchanges it for a session, which all
// tabs with this page have. The storage of an origin is that of one port; cookies would go to every port of the machine. A program
// in this tab obeys whoever has the tab.
const place = "kinform-session " + new URL(".", location.href).pathname;
export let session = inTab ? "this tab" : stored() ?? "";

// A browser may keep no storage for a page: then a session is that of a tab until its next reload.
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

// An address that is pasted into a tab with this page changes no more than the part with the code.
if (!inTab) addEventListener("hashchange", () => { if (new URLSearchParams(location.hash.slice(1)).has("code")) location.reload(); });

// refusal says why the page was not let in; "" if it was, or has not tried.
export let refusal = "";

let lock = () => {};

// onLocked has listener(why) called when the program asks for its token.
export function onLocked(listener) { lock = listener; }

// entered is done when the code has been exchanged, and when it is known whether a session is still good.
let entered = enter();

async function enter() {
  if (inTab || !(code || session)) return;
  const answer = await post("session", { code });
  if (answer.status === 401) { refusal = await said(answer); keep(""); } else if (answer.ok) keepOf(await answer.json());
  code = "";
}

// enterWith has the token let the page in. It throws an Error if it is not the token.
export async function enterWith(token) {
  const answer = await post("session", { token });
  if (!answer.ok) throw new Error(await said(answer));
  keepOf(await answer.json());
}

function keepOf(answer) { refusal = answer.why ?? ""; keep(answer.session); }

const said = async (answer) => (await answer.text()).trim() || answer.statusText;

// wrong is the Error of an answer that is none.
async function wrong(answer) {
  const text = await said(answer), why = answer.status === 401 && refusal || text;
  if (answer.status === 401) lock(why);
  return new Error(why);
}

function headers() { return session ? { Authorization: "Bearer " + session } : {}; }

function post(path, body) {
  return reach(path, { method: "POST", headers: { ...headers(), "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

// get asks for a path of the program, with the session of the page.
async function get(path, signal) {
  await entered.catch(() => {}); // The request itself says what is wrong.
  const answer = await reach(path, { headers: headers(), signal, cache: "no-store" });
  if (!answer.ok) throw await wrong(answer);
  return answer;
}

// ServerSource reads server-sent events. It does so with reach, because an EventSource cannot send a session, nor does it
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
        const answer = await get("stream?of=" + encodeURIComponent(this.of), signal);
        wait = 500;
        const gaveWay = await this.read(answer.body.getReader());
        this.listener.state("lost", gaveWay ? "more look than may look at once, and this page gave way" : "the program has ended the stream");
        if (gaveWay) wait = gaveWay;
      } catch (e) {
        if (signal.aborted) return;
        this.listener.state("lost", e.message);
      }
      entered = entered.then(enter, enter); // The program may be another one by now.
      await new Promise((next) => setTimeout(next, wait));
    }
  }

  // read returns after how long to come again, if the program has said so.
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

// recorded returns the recording that the program shows.
export const recorded = async () => (await get("recording")).text();

// act does what the laboratory can do. It returns a sentence about it.
export async function act(action, values) {
  const answer = await post("do", { action, values });
  if (!answer.ok) throw await wrong(answer);
  return (await answer.json()).done;
}

// lookup asks for the values of indexes, and for the objects of one of them.
export async function lookup(of, index, value) {
  const query = new URLSearchParams({ of });
  if (index != null) { query.set("index", index); query.set("value", value); }
  return (await get("lookup?" + query)).json();
}

// projected asks for an object, as the server and as the store has it: for that of a key, or for any.
export async function projected(of, key) {
  const query = new URLSearchParams({ of });
  if (key != null) query.set("key", key);
  return (await get("object?" + query)).json();
}
