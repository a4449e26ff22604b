// lookup compares a look-up in an index with a scan of all objects. The program measures both on
// the store itself.
import { el, replace, say } from "./dom.js";
import { lookup } from "./source.js";
import { count, plural, seconds } from "./words.js";

export class Lookup {
  constructor(hello) {
    this.of = hello.name;
    this.recorded = hello.recorded;
    this.values = el("div", { class: "values" });
    this.text = el("p", { class: "counts", "aria-live": "polite" });
    this.keys = el("div", { class: "postings" });
    this.node = el("div", { class: "lookup" }, this.values, this.text, this.keys);
  }

  frame() {}

  opened() { if (!this.asked) this.ask(); }

  async ask(index, value) {
    this.asked = true;
    if (this.recorded) return say(this.text, "A recording has no store, so nothing can be looked up.");
    try {
      const answer = await lookup(this.of, index, value);
      if (!answer.indexes.length) say(this.text, "This store has no index except the index of namespaces.");
      replace(this.values, ...answer.indexes.map((i) => el("div", { class: "index" }, el("b", {}, i.name), ` ${plural(i.values, "value")} `,
        ...(i.some ?? []).map((v) => {
          const b = el("button", { "aria-pressed": String(i.name === index && v.value === value) }, `${v.value === "" ? "(empty)" : v.text ?? v.value} `, el("small", {}, count(v.objects)));
          b.addEventListener("click", () => this.ask(i.name, v.value));
          return b;
        }))));
      if (!answer.found) return;
      const f = answer.found;
      say(this.text, `Look-up: ${count(f.objects)} objects in ${seconds(f.lookup)}. A scan of all ${count(f.all)}: ${seconds(f.scan)}, ${(f.scan / Math.max(f.lookup, 1e-9)).toFixed(0)} times as long.`);
      replace(this.keys, ...(f.keys ?? []).map((k) => el("span", { class: "posting" }, k)));
    } catch (e) { say(this.text, e.message); }
  }
}
