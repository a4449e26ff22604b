// replay plays a recording. It is a source, like a stream, and the page draws its frames in the
// same way.
import { byId, el, replace, say } from "./dom.js";

const speeds = [0.1, 0.25, 0.5, 1, 2, 5, 10];
const tick = 50; // in milliseconds

// Replay is a source with its own clock. The field at is its position, in milliseconds since the
// first frame.
export class Replay {
  constructor(recording) { this.recording = recording; this.at = 0; this.next = 0; this.speed = 1; this.playing = true; }

  start(listener) {
    this.listener = listener;
    this.seek(0);
    this.then = performance.now();
    this.timer = setInterval(() => this.go(), tick);
  }

  stop() { clearInterval(this.timer); }

  get ended() { return this.next >= this.recording.frames.length; }

  go() {
    const now = performance.now(), passed = Math.min(now - this.then, 500); // A background tab sleeps, which counts as 500 ms.
    this.then = now;
    if (!this.playing) return;
    this.at = Math.min(this.at + passed * this.speed, this.recording.length);
    for (; !this.ended && this.recording.frames[this.next].at <= this.at; this.next++) this.show(this.next);
    if (this.ended) this.playing = false;
    this.onchange?.();
  }

  // seek goes to a time. There the page begins with an empty picture.
  seek(at) {
    this.at = Math.max(0, Math.min(at, this.recording.length));
    this.next = this.recording.index(this.at);
    this.listener.again();
    this.listener.line({ hello: this.recording.hello });
    this.show(this.next++);
    this.onchange?.();
  }

  // step shows the next or the previous frame.
  step(by) {
    this.playing = false;
    const n = Math.max(0, Math.min(this.next - 1 + by, this.recording.frames.length - 1));
    if (by < 0) return this.seek(this.recording.frames[n].at);
    this.at = this.recording.frames[n].at;
    if (n >= this.next) { this.show(n); this.next = n + 1; }
    this.onchange?.();
  }

  toggle() {
    if (this.ended && !this.playing) this.seek(0);
    this.playing = !this.playing;
    this.onchange?.();
  }

  show(n) {
    const { text } = this.recording.frames[n];
    this.listener.line(JSON.parse(text), text);
  }
}

// Player holds the buttons of a replay.
export class Player {
  constructor(root, close) {
    this.root = root;
    this.play = el("button", { id: "play" }, "Pause");
    this.back = el("button", { title: "One frame back", "aria-label": "One frame back" }, "−1");
    this.forth = el("button", { title: "One frame forward", "aria-label": "One frame forward" }, "+1");
    this.slider = el("input", { type: "range", min: 0, value: 0, step: 1, "aria-label": "Time in the recording" });
    this.speed = el("select", { id: "speed" }, ...speeds.map((s) => el("option", { value: s, selected: s === 1 }, s + "×")));
    this.time = el("output", { class: "time" });
    this.name = el("span", { class: "name" });
    this.close = el("button", { title: "Close the recording, and show the running pipeline" }, "Close");
    replace(root, el("b", {}, "Recording"), this.name, this.play, this.back, this.slider, this.forth, this.time, el("label", {}, "Speed ", this.speed), this.close);
    this.play.addEventListener("click", () => this.replay.toggle());
    this.back.addEventListener("click", () => this.replay.step(-1));
    this.forth.addEventListener("click", () => this.replay.step(1));
    this.slider.addEventListener("input", () => this.replay.seek(Number(this.slider.value)));
    this.speed.addEventListener("change", () => { this.replay.speed = Number(this.speed.value); this.show(); });
    this.close.addEventListener("click", close);
  }

  begin(replay, closes) {
    this.replay = replay;
    replay.speed = Number(this.speed.value);
    this.slider.max = Math.ceil(replay.recording.length);
    this.close.hidden = !closes;
    say(this.name, `${replay.recording.name} ${replay.recording.note}`);
    this.root.hidden = false;
    replay.onchange = () => this.show();
    this.show();
  }

  end() { this.root.hidden = true; this.replay = undefined; }

  // state returns the text about the state of the replay.
  get state() { return `recording, ${this.replay.playing ? this.replay.speed + "×" : this.replay.ended ? "at its end" : "paused"}`; }

  show() {
    const { at, playing, recording } = this.replay;
    say(this.play, playing ? "Pause" : "Play");
    this.slider.value = at;
    this.slider.setAttribute("aria-valuetext", clock(at));
    say(this.time, `${clock(at)} of ${clock(recording.length)}`);
  }
}

function clock(ms) {
  const tenths = Math.floor(ms / 100);
  return `${Math.floor(tenths / 600)}:${String(Math.floor(tenths / 10) % 60).padStart(2, "0")}.${tenths % 10}`;
}

// dropped calls open(file) for files that a user drops onto the page.
export function dropped(open) {
  addEventListener("dragover", (e) => { if (e.dataTransfer?.types.includes("Files")) e.preventDefault(); });
  addEventListener("drop", (e) => {
    const file = e.dataTransfer?.files[0];
    if (!file) return;
    e.preventDefault();
    open(file);
  });
  const chooser = byId("recording");
  chooser.addEventListener("change", () => { if (chooser.files[0]) open(chooser.files[0]); chooser.value = ""; });
  byId("open").addEventListener("click", () => chooser.click());
}
