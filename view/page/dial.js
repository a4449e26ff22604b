// dial has a clock for each key that fails, which runs out when the key comes back.
import { el, svg, replace } from "./dom.js";
import { seconds, count, short } from "./words.js";

export class Dial {
  constructor() { this.node = el("div", { class: "dials" }); this.waits = new Map(); }

  frame(frame) {
    const now = performance.now();
    for (const e of frame.events ?? []) {
      if (e.e === "retried" && e.of === frame.queue) this.waits.set(e.key, { wait: e.wait, from: now, tries: 0 });
    }
    const list = frame.keys?.[frame.queue]?.list ?? [];
    const there = new Set();
    for (const k of list) {
      if (!k.retries && !k.in) continue;
      there.add(k.key);
      const w = this.waits.get(k.key) ?? { wait: k.in ?? 0, from: now };
      w.tries = k.retries ?? 0;
      w.left = k.in ?? 0;
      w.wait = Math.max(w.wait, w.left);
      w.state = k.processing ? "a worker has it" : k.in ? "comes back in " + seconds(k.in) : "in the queue";
      this.waits.set(k.key, w);
    }
    for (const [key, w] of this.waits) {
      if (!there.has(key) && now - w.from > w.wait * 1000 + 1500) this.waits.delete(key);
      else if (!there.has(key)) w.left = Math.max(w.wait - (now - w.from) / 1000, 0);
    }
    while (this.waits.size > 200) this.waits.delete(this.waits.keys().next().value);
  }

  draw(now) {
    if (now - (this.drawn ?? 0) < 100) return;
    this.drawn = now;
    const all = [...this.waits].sort((a, b) => (b[1].tries ?? 0) - (a[1].tries ?? 0) || (a[0] < b[0] ? -1 : 1)).slice(0, 18);
    if (!all.length) return replace(this.node, el("p", { class: "empty" }, "No key waits for another attempt."));
    replace(this.node, ...all.map(([key, w]) => {
      const part = w.wait > 0 ? Math.min(w.left / w.wait, 1) : 0, turn = part * 2 * Math.PI;
      const x = 40 + 32 * Math.sin(turn), y = 40 - 32 * Math.cos(turn);
      const hand = part >= 1 ? svg("circle", { cx: 40, cy: 40, r: 32, class: "left" }) : svg("path", { d: `M40 40V8A32 32 0 ${part > 0.5 ? 1 : 0} 1 ${x.toFixed(1)} ${y.toFixed(1)}Z`, class: "left" });
      return el("figure", { class: "dial" },
        svg("svg", { viewBox: "0 0 80 80", "aria-hidden": "true" }, svg("circle", { cx: 40, cy: 40, r: 34, class: "face" }), hand,
          svg("text", { x: 40, y: 45, "text-anchor": "middle" }, w.wait ? seconds(w.wait) : "now")),
        el("figcaption", {}, el("span", { class: "name", title: key }, short(key)), el("small", {}, `${count(w.tries)} failures in a row; ${w.state ?? "waits"}`)));
    }));
  }
}
