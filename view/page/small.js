// small holds the small pictures. Each explains one idea, and opens from the box that it belongs
// to.
import { el, replace } from "./dom.js";
import { Rulers } from "./rulers.js";
import { Shelf } from "./shelf.js";
import { Rings } from "./rings.js";
import { Dial } from "./dial.js";
import { Relist } from "./relist.js";
import { Resync } from "./resync.js";
import { Lookup } from "./lookup.js";
import { Journey } from "./journey.js";
import { Compare } from "./compare.js";
import { Steps } from "./steps.js";
import { ObjectDiff } from "./object.js";

// pictures are in the order of their letters. Each Picture has a node, frame(frame, boxes, hello), and may have
// draw(now), which is called before each repaint while it is open.
export const pictures = [
  { id: "rulers", box: "server", title: "Ages of the truth", Picture: Rulers,
    lead: "Each stage knows the truth as of some version. The gaps between the rulers are how stale each one is: a worker acts on what the store has, not on what the server has." },
  { id: "relist", box: "reflector", title: "Relist diff", Picture: Relist,
    lead: "When a watch cannot go on (410 Gone), the reflector lists again. An object in the version that the store has is not decoded; an object that is missing was deleted while nobody watched." },
  { id: "shelf", box: "fifo", title: "The shelf", Picture: Shelf,
    lead: "DeltaFIFO is a shelf with a tray for each object. Changes of an object stand on each other, in order, until the informer takes all trays at once. A dashed delete is a tombstone: the delete itself was never seen." },
  { id: "lookup", box: "store", title: "Index look-up", Picture: Lookup,
    lead: "An index has the keys of each value ready. Without one, a reader looks at every object." },
  { id: "resync", box: "handlers", title: "Resync or relist", Picture: Resync,
    lead: "Two words that sound alike. A resync tells handlers of what the store has, again, and asks the server nothing. A relist asks the server for everything, and tells handlers only of what has changed." },
  { id: "rings", box: "queue", title: "Dirty, processing, queue", Picture: Rings,
    lead: "A key that is added while a worker has it is dirty, and not in the queue: so two workers never have it. When the worker is done, it is queued again, once. (Shown slowly: what takes microseconds stays for half a second.)" },
  { id: "dial", box: "queue", title: "Back-off", Picture: Dial,
    lead: "A key that fails comes back later, and later each time: the wait doubles, up to a bound. When it succeeds, it is forgotten. All keys share a tank of tokens as well: when many fail at once it drains, and a retry waits for a token. The longer of the two waits counts." },
  { id: "journey", box: "workers", title: "An object's journey", Picture: Journey,
    lead: "The way of one change, from the socket to the end of its reconcile (or of the handler, if there is no queue), and the time of each part." },
  { id: "compare", box: "reflector", title: "Ways to list", Picture: Compare,
    lead: "A reflector can take its first snapshot by one list, page by page, or by a watch that begins with all that there is. The ways differ in when the first object comes, when all are there, and how much memory is needed." },
  { id: "steps", box: "reflector", title: "State machine", Picture: Steps,
    lead: "What a reflector does next depends on its state and on what the server answers. Choose the answers: the table behind this was made by the reflector itself, for every state and every answer. In it, the store knows all up to version 10; b@2 is object b at version 2, and b@= is b as the store has it." },
  { id: "object", box: "store", title: "What is left out", Picture: ObjectDiff,
    lead: "A cache seldom needs all of an object. A projection (rest.Omit) leaves parts out before an object is decoded; a Transform makes something smaller of it. Parts that are left out cost no memory, for each object in the store." },
];

// letters are the keys of the pictures. All other letters are for the page and for laboratories.
export const letters = "abcdefghjkm";

export class Small {
  constructor(root) { this.root = root; this.made = new Map(); }

  begin(hello) {
    for (const p of pictures) this.made.set(p.id, new p.Picture(hello));
    this.tabs = el("div", { class: "tabs", role: "tablist", "aria-label": "Small pictures" }, ...pictures.map((p, n) => {
      const tab = el("button", { role: "tab", id: "tab-" + p.id, "aria-controls": "small-panel" }, el("kbd", { "aria-hidden": "true" }, letters[n]), p.title);
      tab.addEventListener("click", () => this.open(p.id));
      return tab;
    }));
    this.panel = el("div", { id: "small-panel", role: "tabpanel", tabindex: "0" });
    replace(this.root, this.tabs, this.panel);
    this.open(this.current ?? "rings", true);
  }

  nth(n) { if (pictures[n]) this.open(pictures[n].id); }

  open(id, quietly) {
    const picture = this.made.get(id), p = pictures.find((x) => x.id === id);
    if (!picture) return;
    this.current = id;
    for (const tab of this.tabs.children) tab.setAttribute("aria-selected", String(tab.id === "tab-" + id));
    this.panel.setAttribute("aria-labelledby", "tab-" + id);
    this.panel.dataset.small = id;
    replace(this.panel, el("p", { class: "lead" }, p.lead), picture.node);
    picture.opened?.();
    if (!quietly) this.root.scrollIntoView({ block: "nearest" });
  }

  // wrote notifies the pictures that a button has written something.
  wrote() { for (const p of this.made.values()) p.wrote?.(); }

  // frame passes a frame to all pictures, because they remember what happened before they were
  // opened.
  frame(frame, boxes, hello) { for (const p of this.made.values()) p.frame(frame, boxes, hello); }

  // draw draws the open picture before a repaint.
  draw(now) { if (this.current && !this.root.hidden) this.made.get(this.current)?.draw?.(now); }
}
