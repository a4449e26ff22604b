// steps shows the reflector as a state machine that a user steps through. In each state the user
// chooses the server's reply, and sees what the reflector does. The table is steps.json, which a
// test of package reflector generates by running the reflector.
import { el, svg, replace, say } from "./dom.js";
import { seconds } from "./words.js";

const phases = {
  listing: [110, 40, "It requests a list, or the next page of a list. Version \"0\" allows any version that the server has cached, \"\" requires the most recent one."],
  streaming: [400, 40, "It requests a watch that begins with all objects, and collects the objects up to the end marker."],
  connecting: [110, 140, "It requests a watch that begins after its version."],
  comparing: [110, 240, "A watch was lost. It checks whether the server still has the same history."],
  watching: [400, 240, "It reads the next event of the watch."],
  "backing off": [655, 90, "It waits. (A real wait has a random part; this picture leaves it out.)"],
  stopped: [655, 240, "It has stopped, because its context has ended."],
};
const wide = 186, high = 46;
const kept = 30; // maximum number of steps in the list, and of steps that can be undone

// fresh returns the state of a reflector without failures. Consecutive failures are counted
// separately for snapshots and for watches, and separately for error responses and outages.
const fresh = (row) => ({ row, counts: [0, 0, 0, 0], expired: [false, false] });

export class Steps {
  constructor() {
    this.past = [];
    this.status = el("div", { class: "steps-status", role: "status", "aria-live": "polite" }, el("p", { class: "empty" }, "The table is loading."));
    this.drawing = svg("svg", { viewBox: "0 0 760 285", class: "machine", role: "img", "aria-label": "The states of a reflector; the text below names its current state" });
    this.choice = el("select", { "aria-label": "Begin at" });
    this.choice.addEventListener("change", () => this.begin(Number(this.choice.value)));
    this.back = el("button", {}, "Back");
    this.back.addEventListener("click", () => { this.log.firstChild?.remove(); this.enter(this.past.pop()); });
    this.replies = el("div", { class: "replies" });
    this.log = el("ol", { class: "steps-log", reversed: true, "aria-label": "The steps so far, the newest on top" });
    this.live = el("p", { class: "counts" });
    this.node = el("div", { class: "steps" }, el("div", {}, this.drawing, this.live),
      el("div", {}, el("p", { class: "steps-tools" }, el("label", {}, "Begin at ", this.choice), " ", this.back), this.status, this.replies, this.log));
  }

  // opened loads the table once.
  async opened() {
    if (this.table || this.loading) return;
    this.loading = true;
    try {
      const answer = await fetch("steps.json");
      if (!answer.ok) throw new Error(answer.statusText);
      this.table = (await answer.json()).states;
      replace(this.choice, ...this.table.map((s, n) => el("option", { value: n }, s.name)));
      this.begin(0);
    } catch (e) {
      replace(this.status, el("p", { class: "empty" }, "✗ The table could not be loaded: " + e.message));
    }
    this.loading = false;
  }

  frame(frame, boxes) {
    const said = boxes.get("reflector")?.state ?? "";
    const now = Object.keys(phases).find((p) => said.startsWith(p));
    if (now === this.now) return;
    this.now = now;
    this.draws();
  }

  begin(row) {
    this.past = [];
    replace(this.log);
    this.enter(fresh(row));
  }

  // enter shows a state. A state is {row, counts, expired}. It is {wait, then} while the reflector
  // waits, and {stopped} at the end.
  enter(state) {
    this.state = state;
    const row = this.table[state.row], phase = this.phase(state);
    if (row) this.choice.value = state.row;
    this.back.disabled = !this.past.length;
    const failed = row ? this.failures(row.phase, state) : 0;
    replace(this.status, el("h3", {}, row ? row.name : phase), el("p", {}, phases[phase][2]));
    if (failed) this.status.append(el("p", { class: "counts" }, `${failed} ${failed > 1 ? "failures" : "failure"} in a row before this.`));
    replace(this.replies, ...(row ? this.groups(row) : state.wait ? [this.button("The wait is over", () => this.go("the wait is over", state.then))] : []));
    this.draws();
  }

  phase(state) { return state.stopped ? "stopped" : state.wait ? "backing off" : this.table[state.row].phase; }

  // failures returns all consecutive failures for the kind of a phase.
  failures(phase, state) { const k = kind(phase); return state.counts[2 * k] + state.counts[2 * k + 1]; }

  groups(row) {
    const group = (title, replies) => replies.length ? [el("div", { class: "reply-group", role: "group", "aria-label": title }, el("h4", {}, title),
      ...replies.map((r) => this.button(r.name, () => this.step(row, r))))] : [];
    const refused = row.replies.filter((r) => /^\d{3} /.test(r.name));
    return [...group("What comes", row.replies.filter((r) => !refused.includes(r))), ...group("The server refuses with", refused)];
  }

  button(name, press) {
    const b = el("button", { "data-reply": name }, name);
    b.addEventListener("click", press);
    return b;
  }

  // step returns the outcome of a reply, given the number of failures so far.
  step(row, reply) {
    const { state } = this, k = kind(row.phase);
    let before = state.counts[2 * k + (reply.outage ? 1 : 0)];
    // After the first 410, the reflector lists at once, whatever failed before it.
    if (reply.expired && k === 1 && !state.expired[k]) before = 0;
    const o = reply.outcomes[Math.min(before, reply.outcomes.length - 1)];
    const next = fresh(o.row);
    next.counts = state.counts.map((n, i) => ({ "+": n + 1, "0": 0 })[o.counts[i]] ?? n);
    next.expired = state.expired.map((was, i) => (i === k ? Boolean(reply.expired) : was));
    this.go(`${row.name}: ${reply.name}`, o.row < 0 ? { stopped: true } : o.wait ? { wait: o.wait, then: next } : next, o);
  }

  go(why, next, o) {
    this.past.push(this.state);
    if (this.past.length > kept) this.past.shift();
    const before = this.phase(this.state);
    if (o) this.log.prepend(el("li", {}, el("b", {}, why), el("ul", {}, ...this.said(o).map((s) => el("li", {}, ...s)))));
    else this.log.prepend(el("li", {}, why));
    while (this.log.childElementCount > kept) this.log.lastChild.remove();
    this.before = before;
    this.enter(next);
    this.replies.querySelector("button")?.focus({ preventScroll: true });
  }

  // said describes an outcome in words.
  said(o) {
    const all = [];
    if (o.after) all.push([`This takes ${seconds(o.after)}.`]);
    for (const s of o.said ?? []) all.push(["It reports: ", el("code", {}, s)]);
    for (const t of o.told ?? []) all.push(["It calls the store: ", el("code", {}, t)]);
    if (o.wait) all.push([`It waits ${seconds(o.wait)}.`]);
    all.push(o.row < 0 ? ["It stops."] : ["Then: ", el("code", {}, o.next)]);
    return all;
  }

  // draws draws the states, an arrow for the last step, and the current state of the pipeline's
  // real reflector.
  draws() {
    const here = this.state && this.phase(this.state), from = this.past.length ? this.before : undefined;
    say(this.live, this.now ? `◆ The reflector of this pipeline is ${this.now} now.` : "");
    replace(this.drawing, svg("defs", {}, svg("marker", { id: "steps-head", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" }, svg("path", { d: "M0 0 10 5 0 10Z", class: "head" }))),
      ...Object.entries(phases).map(([name, [x, y]]) => svg("g", { class: "phase" + (name === here ? " here" : ""), transform: `translate(${x} ${y})` },
        svg("rect", { x: -wide / 2, y: -high / 2, width: wide, height: high, rx: 8 }), svg("text", { y: 5, "text-anchor": "middle" }, (name === here ? "▶ " : "") + name + (name === this.now ? " ◆" : "")))),
      ...(from && here ? [svg("path", { d: arrow(from, here), class: "step", "marker-end": "url(#steps-head)" })] : []));
  }
}

// kind returns 0 for phases that take a snapshot, and 1 for phases that watch.
function kind(phase) { return phase === "listing" || phase === "streaming" ? 0 : 1; }

// arrow draws an arrow from the edge of one state to the edge of another, or from a state back to
// itself.
function arrow(from, to) {
  const [ax, ay] = phases[from], [bx, by] = phases[to];
  if (from === to) return `M${ax - 40} ${ay + high / 2}c-10 26 90 26 80 2`;
  const edge = (x, y, dx, dy) => { const s = Math.min(wide / 2 / Math.abs(dx || 1e-9), high / 2 / Math.abs(dy || 1e-9)); return [x + dx * s, y + dy * s]; };
  const [sx, sy] = edge(ax, ay, bx - ax, by - ay), [ex, ey] = edge(bx, by, ax - bx, ay - by);
  return `M${sx.toFixed(1)} ${sy.toFixed(1)}L${ex.toFixed(1)} ${ey.toFixed(1)}`;
}
