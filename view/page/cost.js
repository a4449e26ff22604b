// cost shows the cost of the page itself: in the program, on the network, and in this tab.
import { say } from "./dom.js";
import { bytes, seconds, count } from "./words.js";

export class Cost {
  constructor(node) { this.node = node; this.bytes = 0; this.frames = 0; this.drawing = 0; this.draws = 0; this.since = performance.now(); }

  frame(size) { this.bytes += size ?? 0; this.frames++; }

  drawn(took) { this.drawing += took; this.draws++; }

  show(frame, dots) {
    const now = performance.now(), passed = (now - this.since) / 1000;
    if (passed < 1) return;
    const c = frame.cost;
    const sample = frame.scale > 1 ? `one object of ${count(frame.scale)}` : "every object";
    say(this.node, `This page costs: in the program ${seconds(c.building)} for each frame, ${c.share.toFixed(2)} % of a processor; ` +
      `${bytes(this.bytes / passed)}/s; in this tab ${(this.draws / passed).toFixed(0)} pictures/s of ${(this.drawing / Math.max(this.draws, 1)).toFixed(1)} ms. ` +
      `${c.viewers} ${c.viewers === 1 ? "viewer" : "viewers"}. Dots: ${sample}, ${dots.size} now.`);
    this.node.dataset.fps = (this.draws / passed).toFixed(1);
    this.bytes = this.frames = this.drawing = this.draws = 0;
    this.since = now;
  }
}
