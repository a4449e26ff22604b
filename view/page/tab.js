// tab reaches a program that runs in this tab, in a worker thread: requests and answers are those of a server, as messages.
// The page of a server has no such program, and there this file does nothing.

const meta = document.querySelector('meta[name="kinform-program"]');

// inTab says whether the program is in this tab.
export const inTab = meta !== null;

class Tab {
  constructor() {
    this.asked = new Map(); // by number: {resolve, reject, controller, wake}
    this.last = 0;
    this.progress = { word: "loading", text: "starting the program" };
    this.worker = new Worker(script("worker.js"), { type: "module", name: "kinform" });
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.onerror = (e) => this.end(e.message || "the program could not be started: the worker thread was refused");
    this.worker.postMessage({ program: meta.content, size: Number(meta.dataset.bytes) });
  }

  // fetch is the same as that of a browser, as far as the page needs it.
  fetch(path, { method = "GET", headers = {}, body = "", signal } = {}) {
    return new Promise((resolve, reject) => {
      if (this.ended) throw new Error(this.ended);
      signal?.throwIfAborted();
      const id = ++this.last;
      this.asked.set(id, { resolve, reject });
      signal?.addEventListener("abort", () => this.cancel(id, signal.reason));
      this.worker.postMessage({ id, path, method, headers, body });
    });
  }

  hear(m) {
    if (m.progress) return this.say("loading", m.progress);
    if (m.ended) return this.end(m.ended);
    const asked = this.asked.get(m.id);
    if (!asked) return;
    if (m.status) asked.resolve(new Response(this.body(m.id, asked), { status: m.status, headers: m.headers }));
    if (m.chunk) { asked.controller.enqueue(m.chunk); asked.wake?.(); }
    if (m.done) { this.asked.delete(m.id); asked.controller.close(); }
    if (m.failed) this.fail(m.id, new Error(m.failed));
  }

  // body asks for one piece at a time. So a page that does not read has the program wait, and nothing piles up.
  body(id, asked) {
    return new ReadableStream({
      start: (controller) => { asked.controller = controller; },
      pull: () => new Promise((wake) => { asked.wake = wake; this.worker.postMessage({ id, more: true }); }),
      cancel: (reason) => this.cancel(id, reason),
    });
  }

  cancel(id, reason) {
    if (!this.asked.has(id)) return;
    this.worker.postMessage({ id, cancel: true });
    this.fail(id, reason);
  }

  fail(id, reason) {
    const asked = this.asked.get(id);
    this.asked.delete(id);
    asked.wake?.();
    try { asked.controller?.error(reason); } catch { /* The reader has gone. */ }
    asked.reject(reason);
  }

  end(text) {
    this.ended = text;
    for (const id of [...this.asked.keys()]) this.fail(id, new Error(text));
    this.say("lost", text);
  }

  say(word, text) { this.progress = { word, text }; this.listener?.(word, text); }
}

// script is the address of a worker's script, for browsers that take none without a policy.
function script(name) {
  const url = new URL(name, import.meta.url).href;
  return globalThis.trustedTypes?.createPolicy("kinform", { createScriptURL: () => url }).createScriptURL("") ?? url;
}

const tab = inTab ? new Tab() : undefined;

// reach is the browser's fetch, or the same to the program in this tab.
export const reach = tab ? (path, init) => tab.fetch(path, init) : (path, init) => fetch(path, init);

// onProgress has listener(word, text) called while the program is loaded, and when it has ended.
export function onProgress(listener) {
  if (!tab) return;
  tab.listener = listener;
  listener(tab.progress.word, tab.progress.text);
}
