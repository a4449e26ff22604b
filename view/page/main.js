// main wires the page: a source of frames, the picture, the table, the keyboard.
import { byId, el, say, replace } from "./dom.js";
import { ServerSource, parts } from "./source.js";
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

const small = new Small(byId("small"));
const boxes = new Boxes(byId("picture"), (id) => small.open(id));
const table = new Table(byId("table"));
const index = new Index(byId("all"), choose);
const cost = new Cost(byId("cost"));
const actions = new Actions(byId("actions"), byId("said"));
const tour = new Tour(byId("tour"), (id) => small.open(id, true));
let dots, past, hello, latest, source, queue = "", held = false, dirty = false, frames = 0;

// choose shows a pipeline.
function choose(name) {
  source?.stop();
  hello = latest = undefined;
  show("picture");
  location.hash = new URLSearchParams({ of: name }).toString();
  source = new ServerSource(name);
  source.start({ line, state });
}

function state(word, text) {
  byId("state").dataset.state = word;
  say(byId("state"), text || word);
}

function line(l, size) {
  if (l.hello) return begin(l.hello);
  if (!l.frame || !hello) return;
  cost.frame(size);
  latest = l.frame;
  const shown = boxesOf(latest);
  past.add(hello, shown);
  tour.frame(latest, shown);
  if (held) return;
  dots?.events(latest);
  small.frame(latest, shown, hello);
  dirty = true;
  if (frames++ === 0) draw(performance.now());
}

function begin(h) {
  if (hello && hello.name === h.name && hello.start === h.start) return; // The stream was lost and found.
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

// boxesOf has the boxes of a frame by their ids: of queues, those of the chosen one.
function boxesOf(frame) {
  const names = frame.boxes.filter((b) => b.id === "queue").map((b) => b.name);
  if (!names.includes(queue)) queue = names.includes(hello.name) ? hello.name : names[0] ?? "";
  const select = byId("queue");
  if (select.options.length !== names.length) replace(select, ...names.map((n) => el("option", { value: n }, n)));
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

// draw runs before each repaint. Texts change four times a second at most: nobody reads faster.
function draw(now) {
  requestAnimationFrame(draw);
  if (!hello || document.hidden) return;
  const began = performance.now();
  if (!held) dots.draw(now);
  if (dirty && now - lastText > 200) {
    const shown = boxesOf(latest), sparks = now - lastSparks > 950;
    lastText = now;
    if (sparks) lastSparks = now;
    dirty = false;
    boxes.show(shown, past, sparks);
    table.show(shown);
    wrong(latest.wrong ?? []);
    const unusual = actions.show(latest.laboratory);
    state("live", (held ? "held" : "live") + (unusual ? ", " + unusual : ""));
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
  // Its place stays, so that the picture does not jump when trouble comes and goes.
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
  const all = (await parts()).parts.map((p) => p.name);
  replace(byId("pipeline"), ...all.map((n) => el("option", { value: n }, n)));
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
  held = !held;
  byId("hold").setAttribute("aria-pressed", String(held));
  state("live", held ? "held" : "live");
}

function showAll() {
  source?.stop();
  hello = undefined;
  location.hash = "all";
  state("live", "all pipelines");
  show("all");
}

byId("pipeline").addEventListener("change", (e) => choose(e.target.value));
byId("queue").addEventListener("change", (e) => { queue = e.target.value; dirty = true; });
byId("hold").addEventListener("click", toggleHold);
byId("show-table").addEventListener("click", toggleTable);
byId("show-all").addEventListener("click", showAll);
byId("show-tour").addEventListener("click", () => tour.show());
keyboard({ action: (key) => actions.press(key), hold: toggleHold, table: toggleTable, all: showAll, tour: () => tour.show(), small: (n) => small.nth(n) });

onProgress(state);
(async () => {
  try {
    const wanted = new URLSearchParams(location.hash.slice(1));
    tour.when(Number(wanted.get("tour")));
    const all = await fillPipelines();
    if (wanted.has("all") || (all.length > 8 && !wanted.has("of"))) return showAll();
    choose(wanted.get("of") ?? all[0] ?? "");
  } catch (e) {
    state("lost", e.message);
  }
})();
