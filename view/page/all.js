// all is the index of a program's pipelines. Pipelines with problems are on top.
import { el, replace } from "./dom.js";
import { count, rate } from "./words.js";
import { parts } from "./source.js";

export class Index {
  constructor(root, choose) { this.root = root; this.choose = choose; this.before = new Map(); }

  start() {
    if (this.timer) return;
    this.timer = setInterval(() => this.show(), 1000);
    this.show();
  }

  stop() { clearInterval(this.timer); this.timer = undefined; }

  async show() {
    let all;
    try { all = (await parts()).parts; } catch (e) { return replace(this.root, el("p", { class: "wrong" }, e.message)); }
    const now = performance.now();
    const bad = (p) => p.wrong?.length ?? 0;
    const rows = all.map((p, n) => ({ p, n })).sort((a, b) => (bad(b.p) > 0) - (bad(a.p) > 0) || a.n - b.n).map(({ p }) => {
      const id = p.kind + " " + p.name, before = this.before.get(id);
      const perSecond = before ? ((p.events - before.events) / (now - before.at)) * 1000 : undefined;
      this.before.set(id, { events: p.events, at: now });
      const link = el("button", { class: "link" }, p.name);
      link.addEventListener("click", () => this.choose(p.name));
      return el("tr", { class: bad(p) ? "bad" : "" }, el("td", {}, bad(p) ? "✗ wrong" : "✓ fine"), el("th", { scope: "row" }, link),
        el("td", {}, p.kind), el("td", {}, p.state ?? ""), el("td", { class: "num" }, count(p.objects)), el("td", { class: "num" }, rate(perSecond)),
        el("td", { class: "num" }, count(p.waiting)), el("td", { class: "why" }, (p.wrong ?? []).join("; ")));
    });
    replace(this.root, el("h2", {}, "All pipelines"), el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, ...["", "Name", "What", "State", "Objects", "Events", "Waiting", "What is wrong"].map((t) => el("th", { scope: "col" }, t)))),
      el("tbody", {}, ...rows))));
  }
}
