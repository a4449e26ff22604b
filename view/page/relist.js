// relist shows the changes of a relist: the old set, the new set, and the differences.
import { el, replace, say } from "./dom.js";
import { count, seconds } from "./words.js";

const words = { unchanged: ["·", "unchanged, not decoded"], decoded: ["=", "decoded"], changed: ["~", "changed"], fresh: ["+", "new"], missing: ["−", "missing: deleted while nobody watched"] };
const told = { Added: "fresh", Updated: "changed", Deleted: "missing" };
const most = 240;

export class Relist {
  constructor() {
    this.node = el("div", {});
    this.text = this.node.appendChild(el("p", { class: "counts" }, "There was no list since this page was opened. A dropped watch alone needs no list: the reflector starts a new watch at its version."));
    this.totals = this.node.appendChild(el("ul", { class: "totals" }));
    this.sides = [["before", "In the store before"], ["after", "In the list"]].map(([id, title]) => {
      const grid = el("div", { class: "grid", "data-side": id });
      return { id, grid, side: el("section", { class: "side", "aria-label": title }, el("h3", {}, title), grid) };
    });
    this.both = this.node.appendChild(el("div", { class: "sides", hidden: true }, ...this.sides.map((s) => s.side)));
  }

  frame(frame, boxes) {
    for (const e of frame.events ?? []) {
      const at = frame.at + e.at;
      switch (e.e) {
        case "phase":
          if (e.kind === "listing" || e.kind === "streaming") {
            if (!this.open) this.now = { began: at, keys: new Map(), objects: 0, why: e.text, scale: frame.scale };
            this.open = true;
          } else if (this.open && e.kind !== "backing off") { this.open = false; this.now.took = at - this.now.began; this.fresh = true; }
          break;
        case "page": if (this.now) { this.now.objects += e.n ?? 0; this.fresh = true; } break;
        case "item": this.note(e.key, e.kind); break;
        case "delivered":
          if (e.cause === "relist" || e.cause === "initial") this.note(e.key, told[e.kind]);
      }
    }
    if (this.now) this.now.store = boxes.get("store")?.n?.objects;
  }

  note(key, how) {
    if (!this.now || !Object.hasOwn(words, how) || (this.now.keys.size >= most && !this.now.keys.has(key))) return;
    const before = this.now.keys.get(key);
    if (how === "decoded" && before) return;
    this.now.keys.set(key, how);
    this.fresh = true;
  }

  draw(now) {
    if (!this.fresh || now - (this.drawn ?? 0) < 200) return;
    this.drawn = now;
    this.fresh = false;
    const all = [...this.now.keys], of = (how) => all.filter(([, h]) => h === how).length;
    say(this.text, `The last list: ${count(this.now.objects)} objects${this.now.took ? " in " + seconds(this.now.took / 1000) : ""}${this.now.why ? ", because: " + this.now.why : ""}. ` +
      `Of the ${count(all.length)} objects in the sample:`);
    replace(this.totals, ...Object.entries(words).map(([how, [letter, text]]) => el("li", { class: "how-" + how }, el("b", {}, letter), ` ${count(of(how))} ${text}`)));
    const order = Object.keys(words);
    all.sort((a, b) => order.indexOf(b[1]) - order.indexOf(a[1]));
    this.both.hidden = false;
    for (const { id, grid } of this.sides) replace(grid, ...all.filter(([, how]) => how !== (id === "before" ? "fresh" : "missing")).map(([key, how]) => el("span", { class: "cell how-" + how, title: `${key}: ${words[how][1]}` }, words[how][0])));
  }
}
