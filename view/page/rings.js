// rings draws the three sets of a workqueue: dirty, processing, and the queue itself.
import { el, svg, replace, say } from "./dom.js";
import { Script } from "./script.js";
import { count, short } from "./words.js";

// The positions of keys in the drawing of 720 by 300: the middle of each region.
const regions = {
  ready: [150, 160], both: [360, 160], processing: [570, 160], waiting: [360, 284],
};

function region(s) {
  return s.processing ? (s.dirty ? "both" : "processing") : s.dirty ? "ready" : s.waiting ? "waiting" : undefined;
}

export class Rings {
  constructor() {
    this.script = new Script(650, 80);
    this.drawing = svg("svg", { viewBox: "0 0 720 320", class: "rings", role: "img", "aria-label": "Three sets of keys: dirty keys, dirty keys in the queue, and keys with a worker. A key that is dirty and with a worker was added while the worker had it." },
      svg("ellipse", { cx: 255, cy: 150, rx: 240, ry: 118, class: "ring dirty" }),
      svg("ellipse", { cx: 465, cy: 150, rx: 240, ry: 118, class: "ring processing" }),
      svg("ellipse", { cx: 150, cy: 160, rx: 112, ry: 76, class: "ring ready" }),
      svg("text", { x: 190, y: 24, class: "caption" }, "dirty: due a turn"), svg("text", { x: 470, y: 24, class: "caption" }, "processing: with a worker"),
      svg("text", { x: 150, y: 70, class: "caption", "text-anchor": "middle" }, "in the queue"),
      svg("text", { x: 360, y: 98, class: "caption", "text-anchor": "middle" }, "added meanwhile"),
      svg("text", { x: 20, y: 296, class: "caption" }, "waiting for their time:"));
    this.chips = this.drawing.appendChild(svg("g"));
    this.text = el("p", { class: "counts" });
    this.node = el("div", {}, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Drawing of the three sets" }, this.drawing), this.text);
  }

  frame(frame, boxes) {
    const q = boxes.get("queue")?.n;
    this.totals = q && `Now: ${count(q.dirty)} dirty, ${count(q.ready)} of them in the queue; ${count(q.processing)} processing; ${count(q.delayed)} waiting. In all, ${count(q.adds)} adds made a key dirty, and ${count(q.merged)} adds were merged because the key was already dirty.`;
    for (const e of frame.events ?? []) {
      if (e.of !== frame.queue) continue;
      switch (e.e) {
        case "queued": this.script.step(e.key, (s) => { s.dirty = true; s.waiting = false; s.ready = !s.processing; s.merged = 0; }); break;
        case "merged": this.script.step(e.key, (s) => { s.dirty = true; s.ready = !s.processing; s.merged = (s.merged ?? 0) + 1; }); break;
        case "taken": this.script.step(e.key, (s) => { s.dirty = s.ready = false; s.processing = true; s.merged = 0; }); break;
        case "retried": this.script.step(e.key, (s) => { s.waiting = true; }); break;
        case "done": this.script.step(e.key, (s) => { s.processing = false; s.ready = s.dirty; return s.dirty || s.waiting; }); break;
      }
    }
    // Events do not show keys that stay in a set for long. These keys come from the frame's list.
    const list = frame.keys?.[frame.queue]?.list ?? [];
    const now = performance.now();
    for (const k of list) {
      const known = this.script.keys.get(k.key);
      if (known && (known.steps.length || now - known.since < 1500)) continue;
      this.script.step(k.key, (s) => { Object.assign(s, { dirty: !!k.dirty, ready: !!k.ready, processing: !!k.processing, waiting: k.in > 0 }); return s.dirty || s.processing || s.waiting; });
    }
    const there = new Set(list.map((k) => k.key));
    for (const [key, k] of this.script.keys) {
      if (!k.steps.length && now - k.since > 2000 && !there.has(key)) { this.script.keys.delete(key); this.stale = true; }
    }
  }

  draw(now) {
    if (this.totals) say(this.text, this.totals);
    if (!this.script.run(now) && !this.stale) return;
    this.stale = false;
    const full = {}, made = [], many = {};
    for (const { state: s } of this.script.keys.values()) {
      const where = region(s);
      if (where) many[where] = (many[where] ?? 0) + 1;
    }
    for (const { key, state: s } of this.script.keys.values()) {
      const where = region(s);
      if (!where) continue;
      const n = (full[where] = (full[where] ?? 0) + 1) - 1;
      const [x, y] = regions[where];
      const wide = where === "waiting";
      if (n > (wide ? 2 : 5)) continue;
      if (n === (wide ? 2 : 5) && many[where] > n + 1) { // the last place shows how many more keys there are
        made.push(svg("text", { class: "caption", x: wide ? 560 : x, y: wide ? y + 12 : y + 68, "text-anchor": "middle" }, `and ${many[where] - n} more`));
        continue;
      }
      made.push(svg("g", { class: "chip", transform: wide ? `translate(${260 + n * 150} ${y + 8})` : `translate(${x} ${y - 48 + n * 22})` },
        svg("rect", { x: -74, y: -10, width: 148, height: 19, rx: 9 }),
        svg("text", { "text-anchor": "middle", y: 4 }, short(key, 19) + (s.merged ? ` ×${s.merged + 1}` : "")), svg("title", {}, key)));
    }
    replace(this.chips, ...made);
  }
}
