// dots draws the changes of the sample as they move from box to box. Each dot is one change of one
// object. A dot moves at its own speed, because the stages take only microseconds. It waits where
// the change waits.
import { colors, kinds, kindOf, trace } from "./shapes.js";
export { legend } from "./shapes.js";

const flight = 420; // milliseconds from one box to the next
const most = 220; // maximum number of dots at the same time
const radius = 5.5;
const still = matchMedia("(prefers-reduced-motion: reduce)");
const dark = matchMedia("(prefers-color-scheme: dark)");

export class Dots {
  constructor(boxes) {
    this.canvas = boxes.canvas;
    this.lanes = boxes.lanes;
    this.all = [];
    this.marks = []; // short notes, for example about a dot that left the pipeline
    this.measured = 0;
    this.pace = 1; // factor by which everything is slower: a recording may be played slowly
  }

  get size() { return this.all.length; }

  // events applies the events of a frame.
  events(frame) {
    const now = performance.now();
    const queued = frame.boxes.some((b) => b.id === "queue");
    for (const e of frame.events ?? []) {
      if (e.of && ["queued", "merged", "taken", "done", "failed", "retried"].includes(e.e) && e.of !== frame.queue) continue;
      this.event(e, now + (100 + e.at) * this.pace, queued);
    }
    // If there are too many dots, the dots that have stood still longest disappear.
    for (let n = 0; this.all.length > most && n < this.all.length; n++) {
      const d = this.all[n];
      if (!d.flying && !d.steps.length) this.all.splice(n--, 1);
    }
    if (this.all.length > 1.5 * most) this.all.splice(0, this.all.length - 1.5 * most);
    this.settle(frame, now);
    this.invent(frame, now);
  }

  // settle ends a dot if its stage is empty. The dot's next events did not fit into the sample.
  settle(frame, now) {
    const n = (id) => frame.boxes.find((b) => b.id === id && (id !== "queue" && id !== "workers" || b.name === frame.queue))?.n ?? {};
    const q = n("queue"), f = n("fifo"), empty = {
      queue: !(q.ready + q.delayed + q.dirty + q.parked), workers: !q.processing, fifo: !(f.keys + f.inflight), handlers: !n("handlers").waiting,
    };
    for (const d of this.all) {
      if (empty[d.at] && !d.flying && !d.steps.length && now - d.since > 1200 * this.pace) d.steps.push("end");
    }
  }

  // invent makes dots from the rates. It is for a pipeline without observers, and so without
  // events.
  invent(frame, now) {
    if (frame.events?.length) this.told = now;
    const rate = (id, number) => frame.boxes.find((b) => b.id === id && (b.id !== "queue" || b.name === frame.queue))?.r?.[number] ?? 0;
    const passed = Math.min(frame.at - (this.inventedAt ?? frame.at), 1000) / 1000;
    this.inventedAt = frame.at;
    if (this.told !== undefined) return;
    const way = ["reflector", "fifo", "store", "handlers", "queue", "workers"], from = rate("reflector", "events") ? 0 : 4;
    this.due = Math.min((this.due ?? 0) + passed * Math.min(from ? rate("queue", "adds") : rate("reflector", "events"), 25), 8);
    for (; this.due >= 1 && this.all.length < most; this.due--) {
      this.make("", "", "key", from ? "handlers" : "server", now + Math.random() * 100, ...way.slice(from).filter((id) => frame.boxes.some((b) => b.id === id)), "good");
    }
  }

  event(e, when, queued) {
    switch (e.e) {
      case "received":
        if (e.kind === "BOOKMARK") return this.make("", e.rv, "bookmark", "server", when, "reflector", "end");
        return this.make(e.key, e.rv, kindOf(e.kind), "server", when, "reflector");
      case "item":
        if (e.kind === "unchanged") return this.make(e.key, e.rv, "unchanged", "server", when, "reflector", "fall:unchanged");
        return this.make(e.key, e.rv, "listed", "server", when, "reflector");
      case "delta": {
        let d = this.find(e.key, (x) => x.rv === e.rv && !x.delta);
        d ??= this.make(e.key, e.rv, kindOf(e.kind), e.kind === "Sync" ? "store" : "reflector", when);
        if (e.kind !== "Replaced") d.kind = kindOf(e.kind);
        d.delta = true;
        return d.steps.push("fifo");
      }
      case "batch":
        for (const d of this.all) {
          if (d.delta && !d.batched) { d.batched = true; d.steps.push("store"); }
        }
        return;
      case "delivered": {
        let d = this.find(e.key, (x) => x.batched && x.rv === e.rv);
        if (d?.handled) return;
        if (!d && e.cause === "initial") { d = this.make(e.key, e.rv, "added", "store", when); d.batched = true; }
        if (!d) return;
        d.handled = true;
        d.steps.push("handlers");
        if (!queued) d.steps.push("end");
        return;
      }
      case "queued":
      case "merged": {
        const waits = this.find(e.key, (x) => x.queued && !x.taken);
        let d = this.find(e.key, (x) => x.batched && !x.queued);
        if (e.e === "queued" && waits?.delayed) { // The key's wait is over.
          waits.delayed = false;
          waits.steps.push("due");
        }
        if (!d) {
          if (waits || this.all.length > most / 3) return;
          d = this.make(e.key, "", "key", "handlers", when);
          d.handled = true;
        }
        if (!d.handled) { d.handled = true; d.steps.push("handlers"); }
        d.queued = true;
        if (waits) { d.taken = true; d.into = waits; d.steps.push("merge"); } else d.steps.push("queue");
        return;
      }
      case "taken": {
        let d = this.find(e.key, (x) => x.queued && !x.taken);
        if (!d && this.all.length > most / 3) return; // Dots that have passed all stages are more important.
        d ??= this.make(e.key, "", "key", "queue", when);
        d.queued = d.taken = true;
        d.delayed = false;
        d.steps.push("workers");
        return;
      }
      case "failed": {
        const d = this.find(e.key, (x) => x.taken && !x.done && !x.into);
        if (d) d.failed = true;
        return;
      }
      case "retried": {
        const d = this.find(e.key, (x) => x.taken && !x.done && !x.into);
        if (d) d.again = e.wait ?? 0;
        return;
      }
      case "done": {
        const d = this.find(e.key, (x) => x.taken && !x.done && !x.into);
        if (!d) return;
        if (d.again == null) { d.done = true; d.steps.push(d.failed ? "fall:failed" : "good"); return; }
        d.taken = false; // The key will be queued again.
        d.delayed = true;
        d.again = undefined;
        d.steps.push("fail", "queue");
        d.failed = false;
      }
    }
  }

  make(key, rv, kind, at, when, ...steps) {
    const d = { key, rv, kind, at, steps, begins: when, count: 1, shade: 1, since: when };
    this.all.push(d);
    return d;
  }

  find(key, is) {
    for (const d of this.all) if (d.key === key && !d.ended && is(d)) return d;
    return undefined;
  }

  // measure finds the positions of the strips in which dots wait.
  measure(now) {
    if (now - this.measured < 700) return;
    this.measured = now;
    const origin = this.canvas.getBoundingClientRect();
    const ratio = devicePixelRatio || 1;
    const width = Math.round(origin.width * ratio), height = Math.round(origin.height * ratio);
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    this.ratio = ratio;
    this.places = new Map();
    for (const [id, lane] of this.lanes) {
      const r = lane.getBoundingClientRect();
      this.places.set(id, { x: r.left - origin.left, y: r.top - origin.top, width: r.width, height: r.height });
    }
  }

  // slot returns a place in a strip. Places fill the columns of the first row, and then the second
  // row.
  slot(place, n) {
    const step = radius * 2 + 4;
    const columns = Math.max(Math.floor((place.width - 8) / step), 1), rows = Math.max(Math.floor((place.height - 4) / step), 1);
    n %= columns * rows;
    return { x: place.x + 6 + radius + (n % columns) * step, y: place.y + place.height - radius - 4 - Math.floor(n / columns) * step };
  }

  draw(now) {
    this.measure(now);
    if (!this.places?.size) return;
    if (this.dark !== dark.matches) { this.dark = dark.matches; this.colors = colors(this.canvas); }
    const g = this.canvas.getContext("2d");
    g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    g.clearRect(0, 0, this.canvas.width, this.canvas.height);
    g.font = "bold 9px system-ui, sans-serif";
    g.textAlign = "center";
    g.textBaseline = "middle";
    const used = new Map(), slots = new Map();
    for (const d of this.all) {
      if (now < d.begins) continue;
      this.move(d, now, used, slots);
      this.paint(g, d);
    }
    this.notes(g, now);
    this.all = this.all.filter((d) => !d.ended);
  }

  // move moves a dot, and begins the next step when a step has ended.
  move(d, now, used, slots) {
    const instant = still.matches;
    if (d.x === undefined) Object.assign(d, this.slot(this.places.get(d.at), 0)); // A flight needs a place to begin.
    if (!d.flying && d.steps.length && now - d.since > (instant ? 60 : 90)) {
      const step = d.steps.shift();
      d.flying = { step, from: { x: d.x, y: d.y }, began: now, took: instant ? 1 : (flight * Math.min(this.pace, 4)) / (1 + Math.max(d.steps.length - 2, 0) / 2) };
      if (this.places.has(step)) d.at = step;
      if (step === "fail") { d.dashed = true; this.note(d, now, "✗ failed", "bad"); }
      if (step === "due" || step === "workers") d.dashed = false;
    }
    const target = this.target(d, used, slots);
    if (!d.flying) {
      const ease = instant ? 1 : 0.25;
      d.x += (target.x - d.x) * ease;
      d.y += (target.y - d.y) * ease;
      if (now - d.since > this.patience(d)) d.steps.push("end");
      return;
    }
    const f = d.flying, t = Math.min((now - f.began) / f.took, 1), smooth = t * t * (3 - 2 * t);
    const [what, why] = f.step.split(":");
    switch (what) {
      case "fall":
        if (t === 1) this.note(d, now, why === "failed" ? "✗ " + why : why, why === "failed" ? "bad" : "ink");
        d.y = f.from.y + smooth * 26;
        d.shade = 1 - smooth;
        break;
      case "good": case "end":
        d.shade = 1 - smooth;
        break;
      case "fail": case "due":
        break;
      default: {
        const to = what === "merge" ? d.into : target;
        d.x = f.from.x + (to.x - f.from.x) * smooth;
        d.y = f.from.y + (to.y - f.from.y) * smooth;
      }
    }
    if (t < 1) return;
    d.flying = undefined;
    d.since = now;
    if (what === "merge") { d.into.count += d.count; d.into.pulse = now; }
    if (["fall", "good", "end", "merge"].includes(what)) d.ended = true;
  }

  // patience returns for how many milliseconds a dot may stay in a place. The dot's next event may
  // not have fitted into the sample.
  patience(d) { return d.at === "queue" || d.at === "workers" || d.at === "handlers" ? 60000 : d.at === "fifo" ? 20000 : 4000; }

  target(d, used, slots) {
    const place = this.places.get(d.at);
    // The deltas of an object are stacked.
    const same = d.at === "fifo" ? d.at + " " + d.key : undefined;
    let n = same && slots.get(same)?.n;
    if (n === undefined) { n = used.get(d.at) ?? 0; used.set(d.at, n + 1); }
    const slot = this.slot(place, n);
    if (same) {
      const height = slots.get(same)?.height ?? 0;
      slots.set(same, { n, height: height + 1 });
      slot.y -= Math.min(height, 3) * 5;
    }
    return slot;
  }

  paint(g, d) {
    const kind = kinds[d.kind], color = this.colors[d.kind];
    g.globalAlpha = Math.max(d.shade, 0);
    trace(g, kind.shape, d.x, d.y, d.pulse && performance.now() - d.pulse < 250 ? radius * 1.5 : radius);
    const hollow = kind.shape === "ring" || d.dashed;
    g.fillStyle = hollow ? this.colors.paper : color;
    g.fill();
    g.strokeStyle = color;
    g.lineWidth = hollow ? 2 : 1;
    g.setLineDash(d.dashed ? [2, 2] : []);
    g.stroke();
    g.setLineDash([]);
    g.fillStyle = hollow ? color : this.colors.paper;
    g.fillText(d.count > 1 ? String(Math.min(d.count, 99)) : kind.letter, d.x, d.y + (kind.shape === "triangle" ? 1.5 : 0.5));
    g.globalAlpha = 1;
  }

  note(d, now, text, color) {
    const same = this.marks.find((m) => m.what === text && now - m.began < 700); // Similar notes share one mark.
    if (same) { same.n++; same.text = `${text} ×${same.n}`; return; }
    if (this.marks.length < 8) this.marks.push({ x: d.x, y: d.y, text, what: text, n: 1, color, began: now });
  }

  notes(g, now) {
    g.font = "11px system-ui, sans-serif";
    g.textAlign = "left";
    for (const m of this.marks) {
      g.globalAlpha = Math.max(1 - (now - m.began) / 900, 0);
      g.fillStyle = this.colors[m.color];
      g.fillText(m.text, m.x + 8, m.y + 10);
    }
    g.globalAlpha = 1;
    this.marks = this.marks.filter((m) => now - m.began < 900);
  }
}
