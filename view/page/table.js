// table has all numbers, for users who prefer a table to a picture, and for tests.
import { el, say, replace } from "./dom.js";
import { valueOf, rateOf, seconds } from "./words.js";

export class Table {
  constructor(root) { this.root = root; this.rows = []; }

  begin(hello) {
    this.rows = [];
    const body = el("tbody");
    for (const box of hello.boxes) {
      const numbers = hello.numbers.filter((n) => n.box === box.id);
      numbers.forEach((number, i) => {
        const cells = [0, 1, 2, 3, 4].map(() => el("td", { class: "num" }));
        const row = el("tr", { "data-number": box.id + "." + number.id });
        if (i === 0) row.append(el("th", { scope: "rowgroup", rowspan: numbers.length }, box.title));
        row.append(el("th", { scope: "row", title: number.help }, number.label), ...cells);
        body.append(row);
        this.rows.push({ number, row, cells });
      });
    }
    replace(this.root, el("h2", {}, "All numbers"), el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, ...["Box", "Number", "Now", "a second", "p50", "p99", "longest"].map((t) => el("th", { scope: "col" }, t)))), body)));
  }

  show(boxes) {
    if (this.root.hidden) return;
    for (const { number, row, cells } of this.rows) {
      const box = boxes.get(number.box);
      const value = box?.n?.[number.id], times = box?.t?.[number.id];
      row.dataset.value = value ?? "";
      say(cells[0], number.kind === "time" ? (times ? String(times.count) : "–") : valueOf(number, value));
      say(cells[1], number.kind === "counter" ? rateOf(number, box?.r?.[number.id]) : "");
      say(cells[2], times?.count ? seconds(times.p50) : "");
      say(cells[3], times?.count ? seconds(times.p99) : "");
      say(cells[4], times?.count ? seconds(times.max) : "");
    }
  }
}
