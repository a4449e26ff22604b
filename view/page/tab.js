// tab connects the page to a program in this tab, which runs in a worker thread. Requests and
// responses travel as messages. Otherwise they are like a server's. If a server serves the page,
// there is no program in the tab, and this file does nothing.

const meta = document.querySelector('meta[name="kinform-program"]');

// inTab is whether the program runs in this tab.
export const inTab = meta !== null;

class Tab {
  constructor() {
    this.asked = new Map(); // by request number: {resolve, reject, controller, wake}
    this.last = 0;
    this.progress = { word: "loading", text: "starting the program" };
    this.worker = new Worker(script("worker.js"), { type: "module", name: "kinform" });
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.onerror = (e) => this.end(e.message || "the program could not be started: the worker thread was refused");
    this.worker.postMessage({ program: meta.content, size: Number(meta.dataset.bytes) });
  }

  // fetch is like the browser's fetch, as far as the page needs it.
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

  // body requests one piece at a time. If the page does not read, the program waits, so that no
  // data accumulates.
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

// script returns the address of a worker's script. Some browsers accept scripts only through a
// policy.
function script(name) {
  const url = new URL(name, import.meta.url).href;
  return globalThis.trustedTypes?.createPolicy("kinform", { createScriptURL: () => url }).createScriptURL("") ?? url;
}

const tab = inTab ? new Tab() : undefined;

// reach is the browser's fetch, or the fetch of the program in this tab.
export const reach = tab ? (path, init) => tab.fetch(path, init) : (path, init) => fetch(path, init);

// onProgress sets the function listener(word, text), which is called while the program is being
// loaded, and when the program has ended.
export function onProgress(listener) {
  if (!tab) return;
  tab.listener = listener;
  listener(tab.progress.word, tab.progress.text);
}
