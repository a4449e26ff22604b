// rulers shows the resourceVersion that each stage has reached.
import { el, svg, replace, say } from "./dom.js";

const stages = [["server", "API server"], ["reflector", "reflector"], ["fifo", "DeltaFIFO"], ["store", "store"], ["worker", "a worker read"]];
const left = 130, right = 690;

export class Rulers {
  constructor() {
    this.marks = new Map();
    const rows = stages.map(([id, title], n) => {
      const y = 30 + n * 44;
      const gap = svg("rect", { x: left, y: y - 5, width: 0, height: 10, class: "gap" });
      const mark = svg("path", { d: "M0 -9 7 0 0 9 -7 0Z", class: "mark" }), label = svg("text", { class: "version" }, "");
      this.marks.set(id, { mark, label, gap, y });
      return svg("g", {}, svg("text", { x: 8, y: y + 4, class: "caption" }, title), svg("line", { x1: left, x2: right, y1: y, y2: y, class: "ruler" }), gap, mark, label);
    });
    this.flags = svg("g");
    this.text = el("p", { class: "counts" });
    this.told = el("p", { class: "counts flag-text", "aria-live": "polite" }, "After a button writes, each ruler gets a flag ⚑ at the version of this write. The flag turns to ✓ when the stage has reached this version. From then on, a reader of this stage sees the write.");
    this.node = el("div", {}, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Drawing of the rulers" }, svg("svg", { viewBox: "0 0 720 240", class: "rulers", role: "img", "aria-label": "A ruler for each stage, with a mark at the version that it has" }, ...rows, this.flags)), this.text, this.told);
  }

  frame(frame) {
    const v = frame.versions ?? {};
    for (const e of frame.events ?? []) if (e.e === "taken") this.worker = v.store;
    this.versions = { ...v, worker: this.worker };
  }

  // wrote puts a flag at the server's version in the next frame, which includes the write.
  wrote() { this.flag = { at: performance.now(), passed: new Map() }; }

  // cross records which stages have reached the flag.
  cross(now) {
    const f = this.flag, v = this.versions;
    if (!f || !v) return;
    if (f.version === undefined) {
      if (now - f.at < 120) return; // This frame may be older than the write.
      f.version = Number(v.server) || undefined;
    }
    for (const [id] of stages) if (!f.passed.has(id) && Number(v[id]) >= f.version) f.passed.set(id, now - f.at);
  }

  drawFlag(x) {
    const f = this.flag;
    if (!f?.version) return replace(this.flags);
    replace(this.flags, ...stages.map(([id], n) => {
      const at = x(f.version), y = 30 + n * 44, passed = f.passed.has(id);
      return at < left || at > right + 4 ? svg("g") : svg("g", { class: passed ? "flag passed" : "flag", "data-stage": id }, svg("line", { x1: at, x2: at, y1: y - 12, y2: y + 12 }), svg("text", { x: at + 5, y: y + 17 }, passed ? "✓" : "⚑"));
    }));
    const way = stages.filter(([id]) => id !== "server" && f.passed.has(id)).map(([id, title]) => `${title} ✓`);
    say(this.told, `⚑ The write is version ${f.version}. ${way.length ? "Reached by: " + way.join(", ") + "." : "Only the server has the write: a read of the store does not show it yet."}`);
  }

  draw(now) {
    if (!this.versions || now - (this.drawn ?? 0) < 100) return;
    this.drawn = now;
    const known = stages.map(([id]) => Number(this.versions[id])).filter((n) => n > 0 && Number.isSafeInteger(n));
    if (!known.length) return say(this.text, "This page cannot compare these versions, because they are not numbers.");
    const newest = Math.max(...known), widest = Math.max(newest - Math.min(...known), 10);
    // The scale changes slowly, so that a mark moves only if its stage advances.
    this.span = Math.max(widest * 1.15, (this.span ?? 20) * 0.98, 20);
    this.end = Math.max(newest, this.end ?? 0);
    const x = (n) => right - ((this.end - n) / this.span) * (right - left);
    this.cross(now);
    this.drawFlag(x);
    const told = [];
    for (const [id, title] of stages) {
      const m = this.marks.get(id), n = Number(this.versions[id]);
      const there = n > 0 && Number.isSafeInteger(n);
      m.mark.setAttribute("visibility", there ? "visible" : "hidden");
      if (!there) { say(m.label, "not known"); m.label.setAttribute("x", left); m.label.setAttribute("y", m.y - 10); m.gap.setAttribute("width", 0); continue; }
      const at = Math.max(x(n), left);
      const behind = newest - n;
      m.mark.setAttribute("transform", `translate(${at} ${m.y})`);
      m.mark.classList.toggle("even", behind === 0);
      m.gap.setAttribute("x", at);
      m.gap.setAttribute("width", Math.max(x(newest) - at, 0));
      m.label.setAttribute("text-anchor", "end");
      m.label.setAttribute("x", Math.max(at - 12, left + 70));
      m.label.setAttribute("y", m.y - 9);
      say(m.label, behind ? `${n}, ${behind} behind` : String(n));
      told.push(`${title} ${n}`);
    }
    say(this.text, told.join(" · ") + (this.versions.oldest ? ` · a watch can start after ${this.versions.oldest} or later; a watch from an older version gets 410 Gone` : ""));
  }
}
