// main connects the modules of the page: a source of frames, the picture, the table and the
// keyboard.
import { byId, el, say, replace } from "./dom.js";
import { ServerSource, enterWith, onLocked, parts, recorded } from "./source.js";
import { onProgress } from "./tab.js";
import { Past } from "./past.js";
import { Boxes } from "./boxes.js";
import { Table } from "./table.js";
import { Dots, legend } from "./dots.js";
import { Small, pictures } from "./small.js";
import { Index } from "./all.js";
import { keyboard } from "./keyboard.js";
import { Cost } from "./cost.js";
import { Actions } from "./actions.js";
import { Tour } from "./tour.js";
import { Kept, Recording, save, mostBytes } from "./recording.js";
import { Player, Replay, dropped } from "./replay.js";

const small = new Small(byId("small"));
const boxes = new Boxes(byId("picture"), (id) => small.open(id));
const table = new Table(byId("table"));
const index = new Index(byId("all"), choose);
const cost = new Cost(byId("cost"));
const actions = new Actions(byId("actions"), byId("said"), () => small.wrote(), locked);
const tour = new Tour(byId("tour"), (id) => small.open(id, true));
const kept = new Kept();
const player = new Player(byId("player"), () => choose(shownLast));
let dots, past, hello, latest, source, queue = "", held = false, dirty = false, frames = 0, shownLast = "", alive = true;

// choose shows a pipeline.
function choose(name) {
  begins(new ServerSource(name));
  shownLast = name;
  location.hash = new URLSearchParams({ of: name }).toString();
  source.start({ line, state, again });
}

function begins(next) {
  source?.stop();
  player.end();
  again();
  show("picture");
  source = next;
}

function again() { hello = latest = undefined; }

// play shows a recording. If the recording cannot be read, the page stays as it is.
function play(text, name) {
  const replay = new Replay(new Recording(text, name));
  begins(replay);
  tour.close();
  location.hash = "replay";
  player.begin(replay, alive);
  replay.start({ line: guarded(replay), state, again });
}

// guarded pauses a replay at a frame that cannot be drawn, and shows the error.
function guarded(replay) {
  return (l, text) => {
    try { line(l, text); } catch (e) { undrawable(replay, e); }
  };
}

// Later frames may be valid, so the user can continue with Play.
function undrawable(replay, e) {
  replay.playing = false;
  latest = undefined;
  replay.onchange?.();
  state("replay", "recording, cannot be drawn");
  say(byId("said"), `✗ ${replay.recording.name} cannot be drawn at ${(replay.at / 1000).toFixed(1)} s: ${e.message}`);
}

async function open(file) {
  try {
    if (file.size > mostBytes) throw new Error(`${file.name} has ${file.size} bytes, but this page opens at most ${mostBytes}: remove some lines of the file (each line is one frame)`);
    play(await file.text(), file.name);
    say(byId("said"), "");
  } catch (e) { say(byId("said"), "✗ " + e.message); }
}

function saveSeen() {
  const blob = kept.blob();
  if (blob) save(blob, `kinform-${hello?.name ?? "view"}-${new Date().toISOString().slice(0, 19)}.jsonl`);
  say(byId("said"), blob ? "The last frames of the page, at most five minutes, are saved. Press Open to play the file." : "There is nothing to save yet.");
}

function state(word, text) {
  byId("state").dataset.state = word;
  say(byId("state"), text || word);
}

function line(l, text) {
  if (l.hello) return begin(l.hello, text);
  if (!l.frame || !hello) return;
  cost.frame(text.length);
  latest = l.frame;
  if (!player.replay) kept.add(latest, text);
  const shown = boxesOf(latest);
  past.add(hello, shown);
  tour.frame(latest, shown);
  if (held) return;
  if (dots) { dots.pace = player.replay ? 1 / player.replay.speed : 1; dots.events(latest); }
  small.frame(latest, shown, hello);
  dirty = true;
  if (frames++ === 0) draw(performance.now());
}

function begin(h, text) {
  if (hello && hello.name === h.name && hello.start === h.start) return; // The stream was interrupted and continues.
  if (text) kept.begin(text);
  hello = h;
  past = new Past(h.every);
  document.title = `${h.name} – ${h.title}`;
  say(byId("title"), h.title);
  if (byId("pipeline").value !== h.name) fillPipelines();
  boxes.begin(h, pictures);
  table.begin(h);
  actions.begin(h, boxes);
  small.begin(h);
  dots = new Dots(boxes);
  replace(byId("legend"), ...legend());
  tour.begin(h);
}

// boxesOf returns the boxes of a frame by their ids. If there are several queues, it returns the
// boxes of the chosen queue.
function boxesOf(frame) {
  const names = frame.boxes.filter((b) => b.id === "queue").map((b) => b.name);
  if (!names.includes(queue)) queue = names.includes(hello.name) ? hello.name : names[0] ?? "";
  const select = byId("queue");
  if ([...select.options].map((o) => o.value).join("\n") !== names.join("\n")) replace(select, ...names.map((n) => el("option", { value: n }, n)));
  select.value = queue;
  byId("queue-choice").hidden = names.length < 2;
  const all = new Map();
  for (const b of frame.boxes) {
    if ((b.id !== "queue" && b.id !== "workers") || b.name === queue) all.set(b.id, b);
  }
  frame.queue = queue;
  return all;
}

let lastText = 0, lastSparks = 0;

// draw runs before each repaint. Texts change at most four times a second, because a reader cannot
// follow faster changes.
function draw(now) {
  requestAnimationFrame(draw);
  if (!hello || !latest || document.hidden) return;
  try { repaint(now); } catch (e) {
    if (!player.replay) throw e;
    undrawable(player.replay, e);
  }
}

function repaint(now) {
  const began = performance.now();
  if (!held) dots.draw(now);
  if (dirty && now - lastText > 200) {
    const shown = boxesOf(latest), sparks = now - lastSparks > 950;
    lastText = now;
    if (sparks) lastSparks = now;
    dirty = false;
    boxes.show(shown, past, sparks, latest);
    table.show(shown);
    wrong(latest.wrong ?? []);
    const unusual = actions.show(latest.laboratory);
    const live = player.replay ? player.state : held ? "held" : "live";
    state(player.replay ? "replay" : "live", live + (unusual ? ", " + unusual : ""));
    byId("state").dataset.seq = latest.seq;
    cost.show(latest, dots);
  }
  small.draw(now, past);
  cost.drawn(performance.now() - began, now);
}

let lastWrong = "";
function wrong(all) {
  const text = all.join("\n");
  if (text === lastWrong) return;
  lastWrong = text;
  // The line stays even if it is empty, so that the picture does not jump when problems come and
  // go.
  if (all.length) byId("wrong").hidden = false;
  byId("wrong").classList.toggle("fine", all.length === 0);
  replace(byId("wrong"), ...all.map((w) => el("p", {}, w)));
}

function show(what) {
  byId("all").hidden = what !== "all";
  for (const id of ["picture", "legend", "small"]) byId(id).hidden = what === "all";
  if (what === "all") { byId("table").hidden = true; wrong([]); index.start(); } else index.stop();
}

async function fillPipelines() {
  const all = alive ? (await parts()).parts.map((p) => p.name) : [hello.name];
  replace(byId("pipeline"), ...Array.from(new Set(all), (n) => el("option", { value: n }, n)));
  if (hello) byId("pipeline").value = hello.name;
  return all;
}

function toggleTable() {
  const t = byId("table");
  t.hidden = !t.hidden;
  byId("show-table").setAttribute("aria-pressed", String(!t.hidden));
  if (!t.hidden) { dirty = true; t.focus(); }
}

function toggleHold() {
  if (player.replay) return player.replay.toggle();
  held = !held;
  byId("hold").setAttribute("aria-pressed", String(held));
  state("live", held ? "held" : "live");
}

function showAll() {
  if (!alive) return;
  begins(undefined);
  location.hash = "all";
  state("live", "all pipelines");
  show("all");
}

byId("pipeline").addEventListener("change", (e) => choose(e.target.value));
byId("queue").addEventListener("change", (e) => { queue = e.target.value; dirty = true; });
byId("hold").addEventListener("click", toggleHold);
byId("show-table").addEventListener("click", toggleTable);
byId("show-all").addEventListener("click", showAll);
byId("show-tour").addEventListener("click", guide);
byId("save").addEventListener("click", saveSeen);
dropped(open);
keyboard({ action: (key) => actions.press(key), hold: toggleHold, table: toggleTable, all: showAll, tour: guide, small: (n) => small.nth(n) });

// guide begins the tour, which needs the running pipeline.
function guide() {
  if (!alive) return say(byId("said"), "The tour needs a running pipeline, and this is a recording. Run: kinform lab --open");
  if (player.replay) choose(shownLast);
  tour.show();
}

// locked shows the form for the token, with the reason why. If why is "", it hides the form.
function locked(why) {
  byId("enter").hidden = !why;
  say(byId("refused"), why);
}

byId("enter").addEventListener("submit", async (e) => {
  e.preventDefault();
  const field = byId("enter").elements.token;
  try {
    await enterWith(field.value.trim());
    field.value = "";
    locked("");
    startUp();
  } catch (e) { locked("✗ " + e.message); }
});

async function startUp() {
  try {
    const wanted = new URLSearchParams(location.hash.slice(1));
    tour.when(Number(wanted.get("tour")));
    const known = await parts();
    if (known.recording && !known.parts.length) {
      alive = false;
      for (const id of ["show-tour", "show-all", "hold"]) byId(id).hidden = true;
      return play(await recorded(), known.title);
    }
    const all = await fillPipelines();
    if (wanted.has("all") || (all.length > 8 && !wanted.has("of"))) return showAll();
    choose(wanted.get("of") ?? all[0] ?? "");
  } catch (e) {
    state("lost", e.message);
  }
}

onProgress(state);
onLocked(locked);
startUp();
