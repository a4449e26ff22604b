// resync compares resyncs with relists, in numbers that count from the opening of the page.
import { el, say } from "./dom.js";
import { plural, bytes } from "./words.js";

const rows = [
  ["When", "at an interval that each handler sets for itself", "when a watch cannot continue: after 410 Gone, or if the server has lost its history"],
  ["Requests sent", "none", "for every object"],
  ["Calls of handlers", "for every object, as Updated, with Old equal to New", "for each object that was added, changed or deleted"],
];

export class Resync {
  constructor() {
    this.cells = {};
    const cell = (id) => (this.cells[id] = el("td", { class: "num" }, "–"));
    this.node = el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, el("th", {}, ""), el("th", { scope: "col" }, "Resync"), el("th", { scope: "col" }, "Relist"))),
      el("tbody", {}, ...rows.map(([a, b, c]) => el("tr", {}, el("th", { scope: "row" }, a), el("td", {}, b), el("td", {}, c))),
        el("tr", {}, el("th", { scope: "row" }, "So far"), cell("resyncs"), cell("relists")),
        el("tr", {}, el("th", { scope: "row" }, "Bytes received"), el("td", { class: "num" }, "0 B"), cell("bytes")))));
  }

  frame(frame, boxes) {
    const h = boxes.get("handlers")?.n ?? {}, r = boxes.get("reflector")?.n ?? {}, s = boxes.get("server")?.n ?? {};
    for (const e of frame.events ?? []) {
      if (e.e !== "phase") continue;
      if (e.kind === "listing" || e.kind === "streaming") this.from ??= this.received;
      else if (this.from != null && s.received != null) { this.spent = (this.spent ?? 0) + s.received - this.from; this.from = undefined; }
    }
    this.received = s.received;
    this.shown = { h, r };
  }

  draw(now) {
    if (!this.shown || now - (this.drawn ?? 0) < 250) return;
    this.drawn = now;
    const { h, r } = this.shown;
    say(this.cells.resyncs, `${plural(h.resyncs, "call")} of handlers`);
    say(this.cells.relists, `${plural(r.relists, "relist")}, ${plural(r.listed, "object")} in all lists`);
    say(this.cells.bytes, this.spent ? "about " + bytes(this.spent) + " during lists" : "none since this page was opened");
  }
}
