// boxes draws the seven boxes, with their numbers and sparklines.
import { el, say, replace } from "./dom.js";
import { valueOf, rateOf, seconds, count, plural, short } from "./words.js";
import { spark } from "./spark.js";

export class Boxes {
  // open(name) is called when a user opens the small picture of that name.
  constructor(root, open) {
    this.root = root;
    this.open = open;
    this.rows = [];
    this.lanes = new Map();
  }

  begin(hello, pictures) {
    this.rows = [];
    this.states = new Map();
    this.names = new Map();
    this.lanes = new Map();
    this.actions = new Map();
    this.details = new Map();
    const made = hello.boxes.map((box, n) => this.box(hello, box, n + 1, pictures.filter((p) => p.box === box.id)));
    const line = el("div", { class: "divide", "aria-hidden": "true" }, el("span", {}, "library"), el("span", {}, "your program"));
    this.canvas = el("canvas", { class: "dots", "aria-hidden": "true" });
    replace(this.root, ...made, line, this.canvas);
  }

  box(hello, box, n, pictures) {
    const lane = el("div", { class: "lane", "aria-hidden": "true" });
    const state = el("output", { class: "box-state" }), name = el("span", { class: "box-name" });
    this.lanes.set(box.id, lane);
    this.states.set(box.id, state);
    this.names.set(box.id, name);
    const list = el("dl", { class: "rows" });
    for (const number of hello.numbers.filter((x) => x.box === box.id)) {
      const value = el("span", { class: "value" }, "–"), more = el("span", { class: "more" }, "");
      const canvas = el("canvas", { class: "spark", "aria-hidden": "true" });
      const row = el("div", { class: "row", title: number.help, "data-number": box.id + "." + number.id },
        el("dt", {}, number.label), canvas, el("dd", {}, value, more));
      list.append(row);
      this.rows.push({ number, id: box.id + "." + number.id, row, value, more, canvas });
    }
    const links = el("div", { class: "links" }, ...pictures.map((p) => {
      const b = el("button", { class: "link", "data-small": p.id }, p.title);
      b.addEventListener("click", () => this.open(p.id));
      return b;
    }));
    const details = el("p", { class: "details" });
    this.details.set(box.id, details);
    const actions = el("div", { class: "actions" });
    this.actions.set(box.id, actions);
    return el("section", { class: "box box-" + box.id, id: "box-" + box.id, tabindex: "0", "aria-label": box.title + ": " + box.help },
      el("h2", { title: box.help }, el("kbd", { "aria-hidden": "true" }, String(n)), box.title, name), state, lane, list, details, actions, links);
  }

  // show writes the numbers of a frame. It redraws the sparklines less often, because each covers a
  // minute.
  show(boxes, past, sparks, frame) {
    for (const [id, state] of this.states) {
      const box = boxes.get(id);
      say(state, box?.state ?? "");
      state.parentElement.classList.toggle("absent", !box);
      say(this.names.get(id), (id === "queue" || id === "workers") && box?.name ? box.name : "");
    }
    for (const [id, p] of this.details) say(p, detail(id, frame) ?? "");
    for (const r of this.rows) {
      const box = boxes.get(r.number.box);
      this.row(r, box);
      if (sparks && !r.row.hidden) spark(r.canvas, past, r.id);
    }
  }

  row(r, box) {
    const { number } = r;
    if (number.kind === "time") {
      const t = box?.t?.[number.id];
      r.row.hidden = !box;
      say(r.value, t?.count ? seconds(t.p50) : "–");
      say(r.more, t?.count ? "p99 " + seconds(t.p99) : "");
      r.row.dataset.value = t?.count ? t.p50 : "";
      return;
    }
    const value = box?.n?.[number.id];
    r.row.hidden = value == null;
    r.row.dataset.value = value ?? "";
    say(r.value, valueOf(number, value));
    say(r.more, number.kind === "counter" ? rateOf(number, box?.r?.[number.id]) : "");
  }
}

const shown = 4; // how many numbers fit on the line below a box

// detail returns the items that a box's numbers sum up: each index, each handler, the priorities,
// and the keys that workers have.
function detail(id, frame) {
  const some = (all, text) => all.slice(0, shown).map(text).join(" · ") + (all.length > shown ? ` · and ${count(all.length - shown)} more` : "");
  const keys = frame.keys?.[frame.queue];
  switch (id) {
    case "store": return some(frame.indexes ?? [], (i) => `by ${i.name}: ${plural(i.values, "value")}`);
    case "handlers": return some(frame.handlers ?? [], (h) => `${h.name}: ${h.synced ? "✓ synced" : "○ not synced"}, ${count(h.waiting)} waiting${h.coalesced ? `, ${count(h.coalesced)} merged` : ""}${h.run?.count ? ", a call p99 " + seconds(h.run.p99) : ""}`);
    case "queue": return some((keys?.levels ?? []).filter((l, n, all) => all.length > 1 || l.priority !== 0), (l) => `priority ${l.priority}: ${count(l.ready)}`);
    case "workers": return some((keys?.list ?? []).filter((k) => k.processing), (k) => `${short(k.key, 24)} for ${seconds(k.for ?? 0)}`);
  }
}
