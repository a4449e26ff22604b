// dial draws a clock for each failing key. The clock runs out when the key is added again. It also
// draws the token bucket that all keys share. A retry waits for the longer of both waits.
import { el, svg, replace, say } from "./dom.js";
import { seconds, count, short } from "./words.js";

// The token bucket, in a drawing of 90 by 130.
const top = 12, bottom = 108;

export class Dial {
  constructor() {
    this.waits = new Map();
    this.water = svg("rect", { x: 15, width: 60, y: bottom, height: 0, class: "water" });
    this.inTank = svg("text", { x: 45, y: 66, "text-anchor": "middle" });
    this.tank = el("figure", { class: "tank" },
      svg("svg", { viewBox: "0 0 90 120", "aria-hidden": "true" }, svg("rect", { x: 15, y: top, width: 60, height: bottom - top, class: "tank-back" }), this.water,
        svg("path", { d: `M15 ${top}V${bottom}H75V${top}`, class: "tank-wall" }), this.inTank));
    this.said = this.tank.appendChild(el("figcaption", {}));
    this.clocks = el("div", { class: "dials" });
    this.node = el("div", { class: "backoff" }, this.tank, this.clocks);
  }

  frame(frame) {
    const now = performance.now();
    for (const e of frame.events ?? []) {
      if (e.e === "retried" && e.of === frame.queue) this.waits.set(e.key, { wait: e.wait, told: e.wait, from: now, tries: 0 });
    }
    this.limits = frame.keys?.[frame.queue]?.limits;
    const list = frame.keys?.[frame.queue]?.list ?? [];
    const there = new Set();
    for (const k of list) {
      if (!k.retries && !k.in) continue;
      there.add(k.key);
      const w = this.waits.get(k.key) ?? { wait: k.in ?? 0, from: now };
      w.tries = k.retries ?? 0;
      w.left = k.in ?? 0;
      w.wait = Math.max(w.wait, w.left);
      w.state = k.processing ? "a worker has it" : k.in ? "comes back in " + seconds(k.in).replace(" ", "\u00a0") : "in the queue";
      this.waits.set(k.key, w);
    }
    for (const [key, w] of this.waits) {
      if (!there.has(key) && now - w.from > w.wait * 1000 + 1500) this.waits.delete(key);
      else if (!there.has(key)) w.left = Math.max(w.wait - (now - w.from) / 1000, 0);
    }
    while (this.waits.size > 200) this.waits.delete(this.waits.keys().next().value);
  }

  // own(tries) returns how long a key waits for its own backoff after this number of failures, or
  // undefined if the wait is not known.
  own(tries) {
    const l = this.limits;
    return l?.base && tries ? Math.min(l.base * 2 ** Math.min(tries - 1, 60), l.longest || Infinity) : undefined;
  }

  // why(w) returns which of the two limiters has determined the wait w.
  why(w) {
    const own = this.own(w.tries);
    if (own === undefined || w.told === undefined || !this.limits.burst) return "";
    return w.told > own * 1.02 + 0.001 ? `the tank decided: the key's own clock says ${seconds(own)}` : "the key's own clock decided";
  }

  drawTank() {
    const l = this.limits;
    this.tank.hidden = !l?.burst;
    if (!l?.burst) return;
    const full = Math.max(Math.min(l.tokens / l.burst, 1), 0), height = full * (bottom - top);
    this.water.setAttribute("y", bottom - height);
    this.water.setAttribute("height", height);
    say(this.inTank, count(Math.floor(Math.max(l.tokens, 0))));
    const owed = Math.ceil(Math.max(-l.tokens, 0));
    this.tank.dataset.tokens = l.tokens;
    this.tank.classList.toggle("dry", l.tokens < 1);
    say(this.said, `${count(Math.floor(Math.max(l.tokens, 0)))} of ${count(l.burst)} tokens; ${count(l.perSecond)} tokens come back each second. Each retry of any key takes one token. ` +
      (l.tokens < 1 ? `The tank is dry: ${count(owed)} retries wait for tokens, and one more retry would wait ${seconds((1 - l.tokens) / l.perSecond)}.` : "While the tank has tokens, only a key's own clock counts."));
  }

  draw(now) {
    if (now - (this.drawn ?? 0) < 100) return;
    this.drawn = now;
    this.drawTank();
    const all = [...this.waits].sort((a, b) => (b[1].tries ?? 0) - (a[1].tries ?? 0) || (a[0] < b[0] ? -1 : 1)).slice(0, 18);
    if (!all.length) return replace(this.clocks, el("p", { class: "empty" }, "No key waits for another attempt."));
    replace(this.clocks, ...all.map(([key, w]) => {
      const part = w.wait > 0 ? Math.min(w.left / w.wait, 1) : 0, turn = part * 2 * Math.PI, why = this.why(w);
      const x = 40 + 32 * Math.sin(turn), y = 40 - 32 * Math.cos(turn);
      const hand = part >= 1 ? svg("circle", { cx: 40, cy: 40, r: 32, class: "left" }) : svg("path", { d: `M40 40V8A32 32 0 ${part > 0.5 ? 1 : 0} 1 ${x.toFixed(1)} ${y.toFixed(1)}Z`, class: "left" });
      return el("figure", { class: "dial" },
        svg("svg", { viewBox: "0 0 80 80", "aria-hidden": "true" }, svg("circle", { cx: 40, cy: 40, r: 34, class: "face" }), hand,
          svg("text", { x: 40, y: 45, "text-anchor": "middle" }, w.wait ? seconds(w.wait) : "now")),
        el("figcaption", {}, el("span", { class: "name", title: key }, short(key)), el("small", {}, `${count(w.tries)} ${w.tries === 1 ? "failure" : "failures in a row"}; ${w.state ?? "waits"}${why ? "; " + why : ""}`)));
    }));
  }
}
