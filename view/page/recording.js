// recording keeps the frames that the page has seen, saves them to a file, and reads such files. A
// file has lines of JSON: first {hello}, then {frame}s.

const keptBytes = 24e6, keptTime = 5 * 60 * 1000; // limits of the kept frames; the first one that is reached applies
export const mostBytes = 256e6; // A larger file would fill the memory of the tab.
const mostLine = 8 << 20, mostValues = 100_000; // The decoded values of a longer line could fill the memory as well.

// Kept holds the last lines of a stream.
export class Kept {
  begin(text) { this.hello = text; this.lines = []; this.bytes = 0; }

  add(frame, text) {
    this.lines.push({ at: frame.at, text });
    this.bytes += text.length;
    while (this.bytes > keptBytes || frame.at - this.lines[0].at > keptTime) this.bytes -= this.lines.shift().text.length;
  }

  // blob returns the kept lines as a file, or undefined if there are none.
  blob() {
    if (!this.lines?.length) return undefined;
    return new Blob([this.hello, "\n", ...this.lines.flatMap((l) => [l.text, "\n"])], { type: "application/jsonl" });
  }
}

// save lets the browser save a file.
export function save(blob, name) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(blob);
  a.download = name.replace(/[^\w.-]+/g, "-");
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60e3);
}

// Recording is a saved file: hello, and frames with their times in milliseconds since the first
// frame.
export class Recording {
  // The author of the text is unknown, so the whole text is checked before anything is drawn.
  constructor(text, name) {
    this.name = name;
    this.frames = [];
    let number = 0, first = 0, cut;
    const lines = text.split("\n");
    for (const line of lines) {
      number++;
      if (!line.trim()) continue;
      let l;
      if (line.length > mostLine || values(line) > mostValues) throw new Error(`${name}, line ${number}: more than ${mostLine} characters, or more than ${mostValues} values`);
      try { l = JSON.parse(line); } catch (e) {
        // The last line is incomplete if the program was killed.
        if (this.frames.length && number === lines.length) { cut = number; continue; }
        throw new Error(`${name}, line ${number}: not JSON of a recording`);
      }
      const wrong = this.hello ? wrongFrame(l, this.frames.at(-1)?.at + first) : wrongHello(l);
      if (wrong) throw new Error(`${name}, line ${number}: ${wrong}`);
      if (!this.hello) { this.hello = { ...l.hello, actions: [], recorded: true }; continue; }
      if (!this.frames.length) first = l.frame.at;
      this.frames.push({ at: l.frame.at - first, text: line });
    }
    if (!this.hello) throw new Error(`${name} is empty`);
    if (!this.frames.length) throw new Error(`${name} has no frame`);
    this.note = cut ? `The recording ends in the middle of line ${cut}: the writer was interrupted.` : "";
  }

  get length() { return this.frames.at(-1).at; }

  // index returns the index of the last frame up to a time.
  index(at) {
    let low = 0, high = this.frames.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.frames[middle].at <= at) low = middle; else high = middle;
    }
    return low;
  }
}

// values returns an upper bound of the number of values in a line: each value except the first
// follows a comma, or begins a list or an object.
function values(line) {
  let n = 0;
  for (let i = 0, quoted = false; i < line.length; i++) {
    const c = line[i];
    if (quoted) { if (c === "\\") i++; else if (c === '"') quoted = false; } else if (c === '"') quoted = true; else if (c === "," || c === "[" || c === "{") n++;
  }
  return n;
}

const object = (x) => typeof x === "object" && x !== null && !Array.isArray(x);
const text = (x) => typeof x === "string";
const number = (x) => Number.isFinite(x);
const optional = (is) => (x) => x === undefined || is(x);
const listOf = (is) => (x) => Array.isArray(x) && x.every(is);
const mapOf = (is) => (x) => object(x) && Object.values(x).every(is);
const shape = (fields) => (x) => object(x) && Object.entries(fields).every(([name, is]) => is(x[name]));

const numbers = optional(mapOf(number));
const times = shape({ count: optional(number), p50: optional(number), p99: optional(number), max: optional(number) });
const key = shape({ key: text, processing: optional((x) => typeof x === "boolean"), for: optional(number), in: optional(number), retries: optional(number) });
const level = shape({ priority: number, ready: number });

// The fields that the page draws, according to FormatVersion 1. The fields of a comparison are
// checked in compare.js.
const fields = {
  hello: { title: text, name: text, start: number, every: (x) => number(x) && x >= 20,
    boxes: listOf(shape({ id: text, title: text, help: text })), numbers: listOf(shape({ box: text, id: text, label: text, help: text, kind: text, unit: optional(text) })) },
  frame: { seq: number, at: (x) => number(x) && x >= 0, scale: number, versions: mapOf(text), cost: shape({ viewers: number, building: number, share: number, bytes: number }),
    boxes: listOf(shape({ id: text, name: text, state: optional(text), n: numbers, r: numbers, t: optional(mapOf(times)) })),
    handlers: optional(listOf(shape({ name: text, waiting: number, coalesced: optional(number), wait: times, run: times }))), indexes: optional(listOf(shape({ name: text, values: number }))),
    keys: optional(mapOf(shape({ all: number, list: optional(listOf(key)), levels: optional(listOf(level)), limits: optional(mapOf(number)) }))), wrong: optional(listOf(text)), lost: optional(number),
    events: optional(listOf(shape({ e: text, at: number, of: optional(text), kind: optional(text), cause: optional(text), key: optional(text), rv: optional(text),
      wait: optional(number), ran: optional(number), n: optional(number), text: optional(text) }))),
    laboratory: optional(mapOf(text)) },
};

// wrongFields returns the field of a line that is missing or has the wrong type.
function wrongFields(x, what) {
  if (!object(x)) return `no ${what}`;
  const bad = Object.entries(fields[what]).find(([name, is]) => !is(x[name]));
  return bad && `${what}.${bad[0]} is missing, or has a wrong type or value`;
}

function wrongHello(l) {
  if (!object(l) || !object(l.hello)) return "the first line has no field hello, but a recording begins with it";
  if (l.hello.version !== 1) return `the format is ${String(l.hello.version).slice(0, 20)}, but this page knows format 1`;
  return wrongFields(l.hello, "hello");
}

function wrongFrame(l, last = 0) {
  if (object(l) && l.hello) return "a second recording begins here";
  const wrong = wrongFields(object(l) ? l.frame : undefined, "frame");
  return wrong || (l.frame.at < last ? "the time is earlier than the time of an earlier line" : "");
}
