// object shows the server's version of an object beside the stored version, field by field, in
// bytes. It shows the fields that a projection leaves out, and how much a projection would save.
import { el, replace, say } from "./dom.js";
import { projected } from "./source.js";
import { bytes, count } from "./words.js";

// parts are the groups of fields that can be left out.
const parts = [
  ["managedFields", (path) => path === "metadata.managedFields"],
  ["annotations", (path) => path === "metadata.annotations"],
  ["status", (path) => path === "status" || path.startsWith("status.")],
  ["all but metadata", (path) => !["metadata", "kind", "apiVersion"].includes(path.split(".")[0])],
];

export class ObjectDiff {
  constructor(hello) {
    this.of = hello.name;
    this.recorded = hello.recorded;
    this.without = new Set();
    this.choice = el("select", { "aria-label": "Object" });
    this.choice.addEventListener("change", () => this.ask(this.choice.value));
    const again = el("button", { title: "Read the object from the server and the store again" }, "Look again");
    again.addEventListener("click", () => this.ask(this.choice.value));
    this.switches = parts.map(([name]) => {
      const b = el("button", { "aria-pressed": "false", "data-without": name }, name);
      b.addEventListener("click", () => {
        if (!this.without.delete(name)) this.without.add(name);
        b.setAttribute("aria-pressed", String(this.without.has(name)));
        this.show();
      });
      return b;
    });
    this.tools = el("div", { class: "object-tools" }, el("label", {}, "Object ", this.choice), again,
      el("span", { class: "object-parts", role: "group", "aria-label": "What if these parts were left out as well" }, el("span", {}, "What if these were left out, too: "), ...this.switches));
    this.text = el("p", { class: "counts", "aria-live": "polite" });
    this.total = el("p", { class: "total" });
    this.rows = el("tbody", {});
    this.heads = ["Field", "On the server", "In the store", "Value"].map((t, n) => el("th", { scope: "col", class: n === 1 || n === 2 ? "num" : "" }, t));
    this.table = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Fields of the object" }, el("table", { class: "fields" }, el("thead", {}, el("tr", {}, ...this.heads)), this.rows));
    this.node = el("div", { class: "object" }, this.tools, this.text, this.total, this.table);
  }

  // frame checks whether another informer has started. The new informer may leave out other fields.
  frame(frame) {
    const left = frame.laboratory?.["left out"] ?? "";
    if (this.left !== undefined && left !== this.left) this.stale = performance.now() + 700;
    this.left = left;
  }

  draw(now) {
    if (this.stale && now > this.stale && this.asked) { this.stale = undefined; this.ask(this.choice.value); }
  }

  opened() { this.ask(this.choice.value); }

  async ask(key) {
    this.asked = true;
    if (this.recorded) return this.silent("A recording has only the names of objects.");
    let answer;
    try { answer = await projected(this.of, key || undefined); } catch (e) { return this.silent(e.message); }
    this.answer = answer;
    const keys = answer.key && !answer.keys.includes(answer.key) ? [answer.key, ...answer.keys] : answer.keys;
    replace(this.choice, ...keys.map((k) => el("option", { value: k, selected: k === answer.key }, k)));
    this.show();
  }

  silent(text) {
    this.answer = undefined;
    this.tools.hidden = this.table.hidden = this.total.hidden = true;
    say(this.text, text);
  }

  // gone returns whether a field would be left out.
  gone(path) { return parts.some(([name, of]) => this.without.has(name) && of(path)); }

  show() {
    const a = this.answer;
    if (!a) return;
    this.tools.hidden = false;
    const there = Boolean(a.fields?.length);
    this.table.hidden = this.total.hidden = !there;
    if (!there) return say(this.text, a.error ? `${a.key}: ${a.error}` : "The store is empty.");
    say(this.heads[1], a.whole ? "On the server" : "In the store");
    say(this.heads[2], a.whole ? (this.without.size ? "Would be stored" : "In the store") : "Would be stored");
    const stays = (f) => (this.gone(f.path) ? 0 : f.stored), left = (all, of) => all.filter((f) => this.gone(f.path)).reduce((sum, f) => sum + f[of], 0);
    const stored = a.stored - left(a.fields, "stored");
    say(this.text, `${a.key}: ${bytes(a.raw)} as JSON ${a.whole ? "on the server" : "in the store"}, ${bytes(stored)} ${this.without.size || !a.whole ? "would be stored" : "in the store"}: ${percent(a.raw, stored)} less.` +
      (a.whole ? "" : " This program does not read whole objects from the server, so both sides show the store."));
    const s = a.sample, kept = s.stored - left(s.fields ?? [], "stored"), each = s.objects ? (s.raw - kept) / s.objects : 0;
    say(this.total, s.objects ? `${this.without.size || !a.whole ? "Would save" : "Saves"} ${percent(s.raw, kept)} on ${count(a.objects)} objects: about ${bytes(each * a.objects)} of ${bytes((s.raw / s.objects) * a.objects)}, estimated from ${count(s.objects)} objects.` : "");
    this.total.dataset.saved = percent(s.raw, kept);
    const most = Math.max(...a.fields.map((f) => Math.max(f.raw, f.stored)), 1), values = a.fields.some((f) => f.value);
    this.heads[3].hidden = !values;
    const bar = (n) => { const b = el("i", { class: "size" }); b.style.width = (100 * n) / most + "%"; return el("span", { class: "size-track", "aria-hidden": "true" }, b); };
    replace(this.rows, ...a.fields.map((f) => {
      const now = stays(f), out = now === 0 && f.raw > 0, part = !out && now < f.raw;
      return el("tr", { class: out ? "left-out" : part ? "in-part" : "", "data-path": f.path, "data-raw": f.raw, "data-stored": now },
        el("th", { scope: "row" }, f.path, f.entries ? el("small", {}, ` ${count(f.entries)} ${f.entries === 1 ? "entry" : "entries"}`) : ""),
        el("td", { class: "num" }, bar(f.raw), bytes(f.raw)),
        el("td", { class: "num" }, out ? "✗ left out" : bar(now), out ? "" : bytes(now)), ...(values ? [el("td", { class: "value" }, el("code", { title: f.value ?? "" }, f.value ?? ""))] : []));
    }));
  }
}

function percent(from, to) { return (from ? Math.round((100 * (from - to)) / from) : 0) + " %"; }
