// journey follows single changes, and shows how long each stage took.
import { el, replace } from "./dom.js";
import { icon, kindOf } from "./shapes.js";
import { seconds } from "./words.js";

// stages are the sections of a change's path. Each section ends with an event.
const stages = [
  ["delta", "to the shelf"], ["batch", "on the shelf"], ["applied", "into the store"], ["called", "in the mailbox"],
  ["queued", "in the handler"], ["taken", "in the queue"], ["done", "with a worker"],
];
const kept = 14, mostWhy = 12;

export class Journey {
  constructor() {
    this.going = new Map(); // key -> journey
    this.ended = [];
    this.node = el("div", { class: "journeys" });
    this.list = this.node.appendChild(el("ul", { class: "choices", "aria-label": "Changes" }));
    this.one = this.node.appendChild(el("div", { class: "one" }, el("p", { class: "empty" }, "No change has passed through the pipeline yet.")));
  }

  end(j, at) {
    j.times.done = at;
    this.going.delete(j.key);
    this.ended.unshift(j);
    this.fresh = true;
  }

  frame(frame) {
    const because = (j, why) => { if (j.why.length < mostWhy) j.why.push(why); };
    for (const e of frame.events ?? []) {
      const at = frame.at + e.at;
      if (e.e === "batch") {
        for (const j of this.going.values()) if (j.times.delta != null) j.times.batch ??= at;
        continue;
      }
      if (!e.key) continue;
      if (e.e === "received") {
        const waiting = this.going.get(e.key);
        if (waiting?.times.queued != null) { waiting.seen = at; this.going.delete(e.key); }
        this.going.set(e.key, { key: e.key, kind: e.kind, rv: e.rv, times: { received: at }, why: [`the watch delivered ${e.kind}, version ${e.rv}`], merged: 0 });
        if (this.going.size > 400) this.going.delete(this.going.keys().next().value);
        continue;
      }
      const j = this.going.get(e.key);
      if (!j) continue;
      const inQueue = e.of === frame.queue;
      if (e.e === "delta") j.times.delta ??= at;
      else if (e.e === "delivered") {
        j.times.called ??= at - (e.ran ?? 0) * 1000;
        j.times.applied ??= j.times.called - (e.wait ?? 0) * 1000; // The event enters the mailbox when the store has the object.
        because(j, `handler ${e.of} was called with ${e.kind}, because of a ${e.cause}, after ${seconds(e.wait)} in its mailbox`);
        // Without a queue, the path ends at the handler.
        if (!frame.queue) { j.alone = true; j.times.queued ??= at; this.end(j, at); }
      } else if (e.e === "queued" && inQueue) { j.times.queued ??= at; because(j, "the handler added the key to the queue"); }
      else if (e.e === "merged" && inQueue) { j.times.queued ??= at; because(j, "the key was already dirty, so this add was merged"); }
      else if (e.e === "taken" && inQueue && j.times.queued != null) { j.times.taken ??= at; because(j, `a worker took the key, for ${e.n ?? 1} ${e.n > 1 ? "adds" : "add"}`); }
      else if (e.e === "failed" && inQueue) because(j, "reconcile failed: " + e.text);
      else if (e.e === "retried" && inQueue) because(j, "the key comes back after " + seconds(e.wait));
      else if (e.e === "done" && inQueue && j.times.taken != null) {
        because(j, "the worker was done with the key");
        this.end(j, at);
      }
    }
    // A pinned journey stays.
    if (this.ended.length > kept) this.ended = this.ended.filter((j, n) => n < kept || j === this.pinned);
  }

  // times.called is the time when the handler began. The handler adds the key to the queue before
  // it returns.
  parts(j) {
    let from = j.times.received;
    return (j.alone ? stages.slice(0, 5) : stages).map(([id, title]) => {
      const to = j.times[id] ?? from;
      const part = { id, title, from: from - j.times.received, took: Math.max(to - from, 0) };
      from = Math.max(to, from);
      return part;
    });
  }

  draw(now) {
    if (!this.fresh || now - (this.drawn ?? 0) < 1000) return;
    this.drawn = now;
    this.fresh = false;
    const shown = this.pinned ?? this.ended[0];
    replace(this.list, ...this.ended.slice(0, kept).map((j) => {
      const total = j.times.done - j.times.received;
      const b = el("button", { class: "link", "aria-pressed": String(j === this.pinned) }, icon(kindOf(j.kind)), ` ${j.key} `, el("small", {}, seconds(total / 1000)));
      b.addEventListener("click", () => { this.pinned = this.pinned === j ? undefined : j; this.fresh = true; this.drawn = 0; });
      return el("li", {}, b);
    }));
    if (shown) this.show(shown);
  }

  show(j) {
    const parts = this.parts(j), total = Math.max(j.times.done - j.times.received, 0.001);
    const rows = parts.map((p, n) => {
      const bar = el("i", { class: "bar bar-" + n });
      bar.style.marginLeft = (100 * p.from) / total + "%";
      bar.style.width = Math.max((100 * p.took) / total, 0.4) + "%";
      return el("tr", {}, el("th", { scope: "row" }, p.title), el("td", { class: "num" }, seconds(p.took / 1000)), el("td", { class: "track" }, bar));
    });
    replace(this.one, el("h3", {}, `${j.key}: ${j.kind}, ${seconds(total / 1000)} in all`),
      el("table", { class: "waterfall" }, el("tbody", {}, ...rows)), el("ol", { class: "why" }, ...j.why.map((w) => el("li", {}, w))));
  }
}
