// tour is the guided tour. Its lessons perform real actions and have captions. Each lesson ends
// with a question. The lessons are the files lesson-N.json. Package view/tour documents their
// format.
import { el, replace, say } from "./dom.js";
import { act, session } from "./source.js";
import { holds, numbersOf, subject } from "./condition.js";
import { texts, labels } from "./tourwords.js";
import { count } from "./words.js";

const lessons = 10;
const repository = "https://github.com/kinform/kinform/blob/main/";
const patience = 60000; // milliseconds after which a step reports that it is still waiting

export class Tour {
  // open(id) opens a small picture.
  constructor(root, open) {
    this.root = root;
    this.open = open;
    this.lessons = new Map();
    this.waiting = [];
    this.run = 0; // grows when another step begins, which ends the waits of earlier steps
    this.language = remembered() ?? (navigator.language.startsWith("zh") ? "zh" : "en");
    this.build();
    addEventListener("keydown", (e) => this.key(e));
  }

  get t() { return texts[this.language]; }

  build() {
    const button = (id, press) => { const b = el("button", { id: "tour-" + id }); b.addEventListener("click", press); return b; };
    this.choice = el("select", { id: "tour-lesson" });
    this.choice.addEventListener("change", () => this.start(Number(this.choice.value)));
    this.tongue = button("language", () => this.speak(this.language === "en" ? "zh" : "en"));
    this.closer = button("close", () => this.close());
    this.caption = el("div", { class: "caption", role: "status", "aria-live": "polite", "aria-atomic": "true" });
    this.answers = el("div", { class: "answers", role: "group" });
    this.numbers = el("ul", { class: "tour-numbers" });
    this.back = button("back", () => this.previous());
    this.play = button("play", () => this.toggle());
    this.next = button("next", () => this.forward());
    this.place = el("span", { class: "place" });
    this.links = el("p", { class: "tour-links" });
    replace(this.root,
      el("div", { class: "tour-head" }, this.choice, this.place, el("span", { class: "tour-tools" }, this.tongue, this.closer)),
      this.caption, this.answers, this.numbers, el("div", { class: "tour-buttons" }, this.back, this.next, this.play), this.links);
  }

  // begin stores the actions that the program offers.
  begin(hello) {
    this.actions = new Set((hello.actions ?? []).map((a) => a.id));
    if (this.pending) { const n = this.pending; this.pending = undefined; this.start(n); }
  }

  frame(frame, boxes) {
    this.now = numbersOf(frame, boxes);
    this.waiting = this.waiting.filter((w) => !w());
    if (!this.root.hidden && this.watched) this.count();
  }

  shown() { return !this.root.hidden; }

  // show opens the tour at the lesson where the user closed it, or closes the open tour.
  show() { if (this.shown()) this.close(); else this.start(this.number ?? 1); }

  // when(n) starts the tour at lesson n as soon as the program has sent its actions.
  when(n) { if (n >= 1 && n <= lessons) this.pending = n; }

  close() {
    this.leave();
    this.root.hidden = true;
    document.documentElement.classList.remove("touring");
    document.getElementById("show-tour")?.focus();
  }

  // leave ends a lesson and undoes its effects.
  leave() {
    this.run++;
    this.playing = false;
    this.point();
    const end = this.lesson?.end ?? [];
    const mine = this.began != null;
    this.lesson = this.began = undefined;
    return mine ? this.all(end).catch((e) => this.trouble(e)) : Promise.resolve();
  }

  async start(n) {
    const left = this.leave();
    const run = this.run;
    this.number = n;
    this.step = -1;
    this.done = new Set();
    this.answer = undefined;
    this.root.hidden = false;
    document.documentElement.classList.add("touring");
    this.speak(this.language, true);
    if (!this.actions?.size) return this.cannot(this.t.none);
    if (!session) return this.cannot(this.t.token);
    try {
      await left;
      this.lesson = await this.load(n);
      if (run !== this.run) return;
      this.write(this.t.preparing);
      await this.all(this.lesson.begin.do);
      await this.until(this.lesson.begin.until, run, {});
      if (run !== this.run) return;
      this.began = { ...this.now };
      await this.fill();
      this.enter(0);
      this.next.focus({ preventScroll: true });
    } catch (e) { if (run === this.run) this.trouble(e); }
  }

  async load(n) {
    let lesson = this.lessons.get(n);
    if (!lesson) {
      const answer = await fetch(`lesson-${n}.json`);
      if (!answer.ok) throw new Error(`lesson ${n}: ${answer.statusText}`);
      this.lessons.set(n, (lesson = await answer.json()));
    }
    return lesson;
  }

  // fill writes the titles of all lessons into the menu.
  async fill() {
    const all = await Promise.all(Array.from({ length: lessons }, (_, i) => this.load(i + 1)));
    replace(this.choice, ...all.map((l, i) => el("option", { value: i + 1, selected: i + 1 === this.number }, `${i + 1}. ${l.title[this.language]}`)));
  }

  // enter shows a step. After the last step, it shows the question.
  enter(n) {
    this.run++;
    this.step = n;
    this.was = { ...this.now };
    const step = this.current();
    if (!step.do && !step.ask) this.done.add(n);
    this.show1();
    this.wait();
  }

  current() { return this.lesson.steps[this.step] ?? this.lesson.question; }
  asked() { return this.lesson && this.step === this.lesson.steps.length; }

  // show1 shows the current state of the step.
  show1() {
    if (!this.lesson || this.step < 0) return;
    const step = this.current(), l = this.language, done = this.done.has(this.step), asked = this.asked();
    this.point(step);
    say(this.place, `${this.step + 1} / ${this.lesson.steps.length + 1}`);
    const lines = asked ? [step.ask[l]] : [step.say[l]];
    if (!asked && done && step.then) lines.push(step.then[l]);
    if (asked && this.answer != null) lines.push((this.answer === step.right ? this.t.right : this.t.wrong) + " " + (this.answer === step.right ? step.why[l] : this.t.look));
    this.write(...lines);
    replace(this.answers, ...(asked ? step.answers.map((a, i) => this.choose(a, i, step)) : []));
    this.answers.setAttribute("aria-label", this.t.answers);
    const right = asked && this.answer === step.right;
    say(this.next, asked ? (this.number < lessons ? this.t.lesson : this.t.finish) : done ? this.t.next : step.do.length ? this.t.act : this.t.wait);
    this.next.disabled = this.busy || (asked && !right);
    this.back.disabled = this.busy || this.step === 0;
    this.links.hidden = false;
    replace(this.links, this.t.read, ...this.lesson.docs.flatMap((d, i) => [" ", link((l === "zh" ? "docs/how-informers-work.zh.md#" : "docs/how-informers-work.md#") + anchor(d[l]), d[l])]),
      " · " + this.t.code, ...this.lesson.code.flatMap((c) => [" ", link(c, c)]));
    this.reveal(step);
  }

  choose(a, i, step) {
    const mark = this.answer !== i ? "" : i === step.right ? "✓ " : "✗ ";
    const b = el("button", { "aria-pressed": String(this.answer === i), class: mark && (i === step.right ? "good" : "bad") }, mark + a[this.language]);
    b.addEventListener("click", () => {
      this.answer = i;
      this.show1();
      if (i === step.right) this.next.focus({ preventScroll: true }); else this.answers.children[i].focus({ preventScroll: true });
    });
    return b;
  }

  // forward performs the action of the step, or goes to the next step.
  async forward() {
    if (this.busy || !this.lesson || this.next.disabled) return;
    if (this.asked()) {
      if (this.number < lessons) return this.start(this.number + 1);
      return this.close();
    }
    if (this.done.has(this.step)) return this.enter(this.step + 1);
    const run = ++this.run, n = this.step, step = this.current();
    this.was = { ...this.now };
    this.busy = true;
    this.show1();
    say(this.next, this.t.busy);
    try {
      await this.all(step.do, run);
      await this.until(step.until, run, this.was);
      this.done.add(n);
    } catch (e) { if (run === this.run) this.trouble(e); return; } finally { if (run === this.run) this.busy = false; }
    if (run !== this.run) return;
    this.show1();
    this.next.focus({ preventScroll: true });
    setTimeout(() => { if (run === this.run) this.reveal(step); }, 500); // Pictures are drawn a little later than numbers, and may grow.
    this.wait();
  }

  previous() { if (!this.busy && this.step > 0) { this.playing = false; this.enter(this.step - 1); } }

  // all(what) performs actions one after another. Between two of them, it may wait for a condition.
  async all(what, run = this.run) {
    for (const one of what) {
      if (run !== this.run) return;
      if (one.until) await this.until(one.until, run, this.was);
      else await act(one.action, one.values ?? {});
    }
  }

  // until(conditions) waits until a frame meets the conditions.
  until(conditions, run, was) {
    return new Promise((resolve, reject) => {
      const began = performance.now();
      let frames = 0; // The first frame may have been made before the action.
      this.waiting.push(() => {
        if (frames++ === 0) return false;
        if (run !== this.run || holds(conditions, this.now, was, this.began ?? {})) { resolve(); return true; }
        if (performance.now() - began < patience) return false;
        reject(new Error(this.t.late));
        return true;
      });
    });
  }

  // toggle makes the tour play by itself at reading speed, or stops it.
  toggle() { this.playing = !this.playing; this.buttons(); this.wait(); }

  wait() {
    clearTimeout(this.timer);
    this.buttons();
    if (!this.playing || this.busy || this.asked()) return;
    const run = this.run, text = this.caption.textContent.length;
    this.timer = setTimeout(() => { if (this.playing && run === this.run) this.forward(); }, 2500 + text * (this.language === "zh" ? 160 : 50));
  }

  buttons() {
    say(this.play, this.playing ? this.t.pause : this.t.play);
    this.play.setAttribute("aria-pressed", String(Boolean(this.playing)));
  }

  // point marks the box and the numbers of the step, and opens the step's picture.
  point(step) {
    for (const e of document.querySelectorAll(".pointed, .pointed-row")) e.classList.remove("pointed", "pointed-row");
    this.watched = undefined;
    replace(this.numbers);
    if (!step) return;
    const conditions = step.ask ? step.answers.flatMap((a) => a.when) : [...(step.do ?? []).flatMap((d) => d.until ?? []), ...(step.until ?? [])];
    this.watched = [...new Set([...conditions.map(subject), ...(step.same ?? [])])];
    for (const id of this.watched) document.querySelector(`#picture [data-number="${id}"]`)?.classList.add("pointed-row");
    const box = document.getElementById("box-" + step.box);
    box?.classList.add("pointed");
    if (this.pointed !== step) {
      this.pointed = step;
      if (step.open) this.open(step.open);
    }
    this.count();
  }

  // reveal scrolls the page so that the tour does not cover the box or the picture of the step. If
  // the screen has no room for the whole picture, the end of the picture is shown.
  reveal(step) {
    const about = document.getElementById(matchMedia("(max-width: 1000px)").matches || !step.open ? "box-" + step.box : "small");
    if (!about) return;
    const covered = this.root.offsetHeight + 12;
    document.documentElement.style.scrollPaddingBottom = covered + "px";
    about.scrollIntoView({ block: step.open && about.offsetHeight > innerHeight - covered ? "end" : "nearest" });
  }

  // count writes the values of the step's numbers: before, and now.
  count() {
    if (!this.now) return;
    const before = this.asked() ? this.began : this.was;
    const shown = this.watched.filter((id) => this.now[id] != null).map((id) => {
      const a = before?.[id], b = this.now[id];
      return [id, labels[this.language][id] ?? id, a == null || a === b ? count(b) : `${count(a)} → ${count(b)}`];
    });
    if (String(shown) === this.counted && this.numbers.childElementCount) return;
    this.counted = String(shown);
    replace(this.numbers, ...shown.map(([id, label, value]) => el("li", { "data-watched": id }, label + " ", el("b", {}, value))));
  }

  write(...lines) {
    const all = lines.join("\n");
    if (this.caption.dataset.text === all) return; // Writing the same text would make a screen reader read it again.
    this.caption.dataset.text = all;
    replace(this.caption, ...lines.map((line, n) => el("p", { class: n ? "then" : "" }, line)));
  }

  cannot(text) {
    this.write(text);
    replace(this.answers);
    this.next.disabled = this.back.disabled = true;
    this.links.hidden = true;
    this.closer.focus({ preventScroll: true });
  }

  trouble(e) { this.busy = false; this.playing = false; this.buttons(); this.write("✗ " + e.message); this.next.disabled = false; say(this.next, this.t.again); }

  // speak sets the language.
  speak(language) {
    this.language = language;
    try { localStorage.setItem("kinform-language", language); } catch { /* The choice lasts as long as the page. */ }
    this.root.lang = language === "zh" ? "zh-CN" : "en";
    this.root.setAttribute("aria-label", this.t.tour);
    this.choice.setAttribute("aria-label", this.t.choice);
    say(this.tongue, this.t.other);
    this.tongue.lang = language === "zh" ? "en" : "zh-CN";
    say(this.closer, this.t.close);
    say(this.back, this.t.back);
    if (!this.next.textContent) say(this.next, this.t.next);
    this.buttons();
    if (this.began) { this.fill(); this.show1(); }
  }

  key(e) {
    if (!this.shown() || e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
    if (e.target.closest?.("input, select, textarea")) return;
    if (e.key === "ArrowRight") this.forward();
    else if (e.key === "ArrowLeft") this.previous();
    else if (e.key === "Escape") this.close();
    else return;
    e.preventDefault();
  }
}

function remembered() {
  try { return { en: "en", zh: "zh" }[localStorage.getItem("kinform-language")]; } catch { return undefined; }
}

function link(path, text) { return el("a", { href: repository + path, target: "_blank", rel: "noopener" }, text); }

// anchor returns the anchor that GitHub gives to a heading.
export function anchor(heading) { return heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-"); }
