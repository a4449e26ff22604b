// shapes defines how changes look. Each kind has a colour, a shape and a letter, so that a user
// need not distinguish colours.
import { el, svg } from "./dom.js";

// of has the kind of a change, by the words that stages use for it.
const of = {
  ADDED: "added", Added: "added", MODIFIED: "modified", Updated: "modified", DELETED: "deleted", Deleted: "deleted",
  Replaced: "listed", decoded: "listed", unchanged: "unchanged", Sync: "sync", BOOKMARK: "bookmark",
};

export const kinds = {
  added: { letter: "+", shape: "circle", text: "added" },
  modified: { letter: "~", shape: "diamond", text: "modified" },
  deleted: { letter: "−", shape: "square", text: "deleted" },
  listed: { letter: "=", shape: "triangle", text: "listed" },
  unchanged: { letter: "·", shape: "ring", text: "listed, unchanged: not decoded" },
  sync: { letter: "s", shape: "ring", text: "resync: no change" },
  bookmark: { letter: "b", shape: "bar", text: "bookmark: a version, no object" },
  key: { letter: "k", shape: "circle", text: "a key" },
};

export function kindOf(word) { return Object.hasOwn(of, word) ? of[word] : "key"; }

// colors reads the colours of the style sheet, which has light and dark colours.
export function colors(node) {
  const probe = node.parentElement.appendChild(el("i", { hidden: true })); // A canvas does not understand CSS variables.
  const read = (name) => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color; };
  const all = {};
  for (const k of Object.keys(kinds)) all[k] = read("dot-" + k);
  for (const k of ["ink", "paper", "bad", "good"]) all[k] = read(k);
  probe.remove();
  return all;
}

// trace draws the outline of a shape.
export function trace(g, shape, x, y, r) {
  g.beginPath();
  switch (shape) {
    case "diamond": g.moveTo(x, y - r * 1.2); g.lineTo(x + r * 1.2, y); g.lineTo(x, y + r * 1.2); g.lineTo(x - r * 1.2, y); g.closePath(); break;
    case "square": g.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8); break;
    case "triangle": g.moveTo(x, y - r * 1.15); g.lineTo(x + r * 1.15, y + r * 0.9); g.lineTo(x - r * 1.15, y + r * 0.9); g.closePath(); break;
    case "bar": g.rect(x - r * 0.5, y - r, r, r * 2); break;
    default: g.arc(x, y, r, 0, 2 * Math.PI);
  }
}

const points = { circle: "circle", ring: "circle" };

// icon returns the shape of a kind as a small drawing, for use in texts.
export function icon(kind) {
  const k = kinds[kind];
  let mark;
  switch (k.shape) {
    case "diamond": mark = svg("path", { d: "M8 1 15 8 8 15 1 8Z" }); break;
    case "square": mark = svg("rect", { x: 2.5, y: 2.5, width: 11, height: 11 }); break;
    case "triangle": mark = svg("path", { d: "M8 1.5 15 14H1Z" }); break;
    case "bar": mark = svg("rect", { x: 5, y: 2, width: 6, height: 12 }); break;
    default: mark = svg(points[k.shape], { cx: 8, cy: 8, r: 6 });
  }
  const letter = svg("text", { x: 8, y: k.shape === "triangle" ? 13 : 11.5, "text-anchor": "middle" }, k.letter);
  return svg("svg", { viewBox: "0 0 16 16", class: `icon kind-${kind} shape-${k.shape}`, "aria-hidden": "true" }, mark, letter);
}

// legend explains the dots.
export function legend() {
  return Object.entries(kinds).map(([kind, k]) => el("li", {}, icon(kind), k.text));
}
