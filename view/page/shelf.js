// shelf draws the DeltaFIFO as a shelf: a tray for each object, with the object's deltas on it.
import { el, replace, say } from "./dom.js";
import { icon, kindOf } from "./shapes.js";
import { count, short } from "./words.js";

// stays returns for how many milliseconds a tray stays visible after it was popped. A tray with a
// tombstone stays longer, because it is rare and needs time to read.
const stays = (tray) => (tray.deltas.some((d) => d.tombstone) ? 12000 : 1600);
const most = 14;

export class Shelf {
  constructor() {
    this.trays = new Map();
    this.deleted = new Map(); // keys with a DELETED event, whose delete is therefore not a tombstone
    this.node = el("div", {});
    this.board = this.node.appendChild(el("div", { class: "shelf" }));
    this.text = this.node.appendChild(el("p", { class: "counts" }));
  }

  frame(frame, boxes) {
    const n = boxes.get("fifo")?.n;
    this.totals = n && `Now: ${count(n.keys)} trays with ${count(n.deltas)} deltas. In all, ${count(n.queued)} deltas were queued and ${count(n.batches)} batches taken; ${count(n.merged)} deltas were merged on the shelf.`;
    const now = performance.now();
    for (const e of frame.events ?? []) {
      if (e.e === "received" && e.kind === "DELETED") this.deleted.set(e.key, now);
      else if (e.e === "delta") this.add(e, now);
      else if (e.e === "batch") for (const t of this.trays.values()) t.taken ??= Math.max(now, t.began + 500);
    }
    // The DeltaFIFO no longer has deltas that the informer has popped, even if the informer is
    // still working on the batch. A frame's numbers are a little older than its events. So a tray
    // counts as popped from its second frame on.
    for (const t of this.trays.values()) {
      if (n?.keys === 0 && t.before) t.taken ??= Math.max(now, t.began + 500);
      t.before = true;
    }
    for (const [key, at] of this.deleted) if (now - at > 5000) this.deleted.delete(key);
  }

  add(e, now) {
    let tray = this.trays.get(e.key);
    if (tray?.taken && now > tray.taken) { this.trays.delete(e.key); tray = undefined; }
    if (!tray) {
      if (this.trays.size >= most) { // The place of an empty tray is used first.
        const empty = [...this.trays].find(([, t]) => t.taken && now > t.taken);
        if (!empty) return;
        this.trays.delete(empty[0]);
      }
      this.trays.set(e.key, (tray = { began: now, deltas: [], merged: 0 }));
    }
    tray.taken = undefined;
    tray.before = false;
    const last = tray.deltas.at(-1);
    if (e.kind === "Deleted" && last?.kind === "Deleted") { last.squashed = true; return; }
    if (tray.deltas.length >= 5) { tray.merged++; tray.deltas.splice(1, 1); }
    tray.deltas.push({ kind: e.kind, rv: e.rv, tombstone: e.kind === "Deleted" && !this.deleted.has(e.key) });
  }

  draw(now) {
    if (this.drawn && now - this.drawn < 120) return;
    this.drawn = now;
    if (this.totals) say(this.text, this.totals);
    const made = [];
    for (const [key, t] of this.trays) {
      if (t.taken && now - t.taken > stays(t)) { this.trays.delete(key); continue; }
      const taken = t.taken && now > t.taken;
      made.push(el("div", { class: "tray" + (taken ? " taken" : "") },
        el("ol", { reversed: true }, ...t.deltas.toReversed().map((d) => el("li", { class: (d.tombstone ? "tombstone " : "") + "delta kind-" + kindOf(d.kind) },
          icon(kindOf(d.kind)), d.tombstone ? "Deleted, final state unknown" : d.kind + (d.squashed ? " ×2" : ""), el("small", {}, " " + (d.rv ?? ""))))),
        el("div", { class: "name", title: key }, short(key, 24)), el("small", {}, taken ? "taken by the informer" : t.merged ? t.merged + " merged" : "waits")));
    }
    replace(this.board, ...(made.length ? made : [el("p", { class: "empty" }, "The shelf is empty: the informer takes each change as soon as it arrives.")]));
  }
}
