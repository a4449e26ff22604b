// compare draws the laboratory's measurements of several list methods: memory over time, with one
// line for each method.
import { el, svg, replace, say } from "./dom.js";
import { bytes, count, seconds } from "./words.js";

const titles = { list: "one list", paged: "pages of 500", watchlist: "streaming list" };
const left = 92, right = 620, top = 16, bottom = 236;
const most = 8; // maximum number of lines; another laboratory may have other methods

export class Compare {
  constructor(hello) {
    const can = (hello.actions ?? []).some((a) => a.id === "compare");
    this.text = el("p", { class: "counts" }, can ? "Nothing has been measured yet. Press Compare lists, at the reflector."
      : "Only a laboratory can measure this, and this program has none. Run: kinform lab --open");
    this.drawing = svg("svg", { viewBox: "0 0 760 280", class: "compare", role: "img", "aria-label": "Memory over time for each way to list; the same numbers are in the table" });
    this.rows = el("tbody", {});
    this.table = el("div", { class: "scroll" }, el("table", { class: "ways" },
      el("thead", {}, el("tr", {}, ...["Way", "First object", "All objects", "Memory, at most"].map((t, n) => el("th", { scope: "col", class: n ? "num" : "" }, t)))), this.rows));
    this.node = el("div", {}, this.text, this.drawing, this.table);
    this.show();
  }

  frame(frame) {
    const text = JSON.stringify(frame.comparison ?? null);
    if (text === this.seen) return;
    this.seen = text;
    this.shown = frame.comparison;
    this.fresh = true;
  }

  draw() {
    if (!this.fresh) return;
    this.fresh = false;
    this.show();
  }

  show() {
    const ways = waysOf(this.shown);
    this.drawing.toggleAttribute("hidden", !ways.length);
    this.table.hidden = !ways.length;
    if (!this.shown) return;
    say(this.text, `${count(this.shown.objects)} pods of a separate server. Memory is the growth of the whole process since the beginning. It includes the server, and garbage that is not collected yet. ` +
      "○ marks the first object, ● the last one.");
    const wide = scale(Math.max(0.001, ...ways.flatMap((w) => [w.all, w.first, ...w.memory.map((m) => m[0])])));
    const high = scale(Math.max(1e6, ...ways.map((w) => w.peak)));
    const x = (t) => left + (Math.min(t / wide.end, 1)) * (right - left), y = (b) => bottom - (Math.min(b / high.end, 1)) * (bottom - top);
    replace(this.drawing,
      ...high.ticks.flatMap((b) => [svg("line", { x1: left, x2: right, y1: y(b), y2: y(b), class: "tick" }), svg("text", { x: left - 6, y: y(b) + 4, "text-anchor": "end", class: "caption" }, bytes(b))]),
      ...wide.ticks.map((t) => svg("text", { x: x(t), y: bottom + 20, "text-anchor": "middle", class: "caption" }, seconds(t))),
      svg("text", { x: (left + right) / 2, y: bottom + 40, "text-anchor": "middle", class: "caption" }, "time since the beginning of each list"),
      ...apart(ways.map((w, n) => ({ w, n, last: w.memory.at(-1) ?? [0, 0] })), y).flatMap(({ w, n, at }) => this.line(w, n, at, x, y)));
    replace(this.rows, ...ways.map((w, n) => el("tr", { "data-way": w.name }, el("th", { scope: "row", class: "way way-" + (n % 3) }, el("b", { "aria-hidden": "true" }, dash[n % 3]), " " + (titles[w.name] ?? w.name)),
      el("td", { class: "num" }, w.first ? seconds(w.first) : "–"), el("td", { class: "num" }, w.all ? seconds(w.all) : "…"), el("td", { class: "num" }, bytes(w.peak)))));
  }

  // line draws the line of one method: with its own pattern, with marks, and with its name beside
  // the chart.
  line(w, n, at, x, y) {
    const points = [[0, 0], ...w.memory], how = "way way-" + (n % 3);
    const made = [svg("polyline", { points: points.map(([t, b]) => `${x(t).toFixed(1)},${y(b).toFixed(1)}`).join(" "), class: how })];
    if (w.first) made.push(svg("circle", { cx: x(w.first), cy: y(between(points, w.first)), r: 5, class: how + " first" }));
    if (w.all) made.push(svg("circle", { cx: x(w.all), cy: y(between(points, w.all)), r: 5, class: how + " all" }));
    made.push(svg("text", { x: right + 8, y: at + 4, class: how }, dash[n % 3] + " " + (titles[w.name] ?? w.name)));
    return made;
  }
}

// waysOf returns the methods of a comparison that can be drawn. It checks their values, because a
// recording may contain anything.
function waysOf(shown) {
  const number = (n) => (Number.isFinite(n) && n > 0 ? n : 0), list = (l, n) => (Array.isArray(l) ? l.slice(0, n) : []);
  return list(shown?.ways, most).map((w) => ({ name: String(w?.name), first: number(w?.first), all: number(w?.all), peak: number(w?.peak),
    memory: list(w?.memory, 500).map((m) => [number(m?.[0]), number(m?.[1])]) }));
}

const dash = ["──", "╌╌", "┄┄"];

// between(points, t) returns the value of a line at time t.
function between(points, t) {
  const n = points.findIndex((p) => p[0] >= t);
  if (n < 0) return points.at(-1)[1];
  if (n === 0) return points[0][1];
  const [a, b] = [points[n - 1], points[n]];
  return a[1] + ((b[1] - a[1]) * (t - a[0])) / (b[0] - a[0] || 1);
}

// apart(lines, y) gives the name of each line its own height, so that names do not overlap.
function apart(lines, y) {
  let before = -Infinity;
  for (const l of [...lines].sort((a, b) => y(a.last[1]) - y(b.last[1]))) before = l.at = Math.max(y(l.last[1]), before + 16);
  return lines;
}

// scale returns the end of an axis, and ticks at round numbers.
function scale(largest) {
  const size = 10 ** Math.floor(Math.log10(largest));
  const step = [0.2, 0.5, 1, 2].map((n) => n * size).find((s) => largest / s <= 5) ?? 2 * size;
  const n = Math.ceil(largest / step);
  return { end: n * step, ticks: Array.from({ length: n + 1 }, (_, i) => i * step) };
}
