// small holds the small pictures. Each picture explains one idea, and opens from its box.
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

// pictures are in the order of their letters. Each Picture has a node and frame(frame, boxes,
// hello). It may have draw(now), which is called before each repaint while the picture is open.
export const pictures = [
  { id: "rulers", box: "server", title: "Ages of the truth", Picture: Rulers,
    lead: "Each stage knows the state of the cluster up to some version. The gap on a ruler shows how stale its stage is: a worker acts on the state in the store, not on the state on the server." },
  { id: "relist", box: "reflector", title: "Relist diff", Picture: Relist,
    lead: "When a watch cannot continue (410 Gone), the reflector lists again. It does not decode an object that the store has in the same version. An object that is missing in the list was deleted while nobody watched." },
  { id: "shelf", box: "fifo", title: "The shelf", Picture: Shelf,
    lead: "DeltaFIFO is a shelf with a tray for each object. The changes of an object are stacked on its tray, in order, until the informer takes all trays at once. A dashed delete is a tombstone: no event reported this delete." },
  { id: "lookup", box: "store", title: "Index look-up", Picture: Lookup,
    lead: "An index has the keys of each value ready. Without an index, a reader must look at every object." },
  { id: "resync", box: "handlers", title: "Resync or relist", Picture: Resync,
    lead: "Resync and relist sound alike. A resync calls the handlers again for every object in the store, and sends no request to the server. A relist requests all objects from the server, and calls the handlers only for changed objects." },
  { id: "rings", box: "queue", title: "Dirty, processing, queue", Picture: Rings,
    lead: "A key that is added while a worker has it is dirty, but not in the queue, so two workers never have the same key. When the worker is done, the key is queued again, once. (The picture is slow: it shows microseconds as half a second.)" },
  { id: "dial", box: "queue", title: "Back-off", Picture: Dial,
    lead: "A key that fails comes back later, and each failure in a row doubles the wait, up to a bound. A success ends the back-off. All keys also share a tank of tokens: when many keys fail at once, the tank drains, and a retry waits for a token. The longer of the two waits counts." },
  { id: "journey", box: "workers", title: "An object's journey", Picture: Journey,
    lead: "The path of one change, from the socket to the end of its reconcile (or of the handler, if there is no queue), and the time of each part." },
  { id: "compare", box: "reflector", title: "Ways to list", Picture: Compare,
    lead: "A reflector can get its first snapshot by one list, page by page, or by a watch that begins with all objects. The ways differ in three things: when the first object arrives, when all objects have arrived, and how much memory is needed." },
  { id: "steps", box: "reflector", title: "State machine", Picture: Steps,
    lead: "The next step of a reflector depends on its state and on the server's response. Choose the responses. The reflector itself generated the table behind this picture, for every state and every response. In the table, the store knows all changes up to version 10; b@2 is object b at version 2, and b@= is b as the store has it." },
  { id: "object", box: "store", title: "What is left out", Picture: ObjectDiff,
    lead: "A cache seldom needs all parts of an object. A projection (rest.Omit) leaves parts out before an object is decoded; a Transform replaces the object by a smaller one. The parts that are left out cost no memory, and this saves memory for each object in the store." },
];

// letters are the keys of the pictures. All other letters belong to the page and to laboratories.
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

  // wrote notifies the pictures that a button has written objects.
  wrote() { for (const p of this.made.values()) p.wrote?.(); }

  // frame passes a frame to all pictures, because a picture also shows events from before it was
  // opened.
  frame(frame, boxes, hello) { for (const p of this.made.values()) p.frame(frame, boxes, hello); }

  // draw draws the open picture before a repaint.
  draw(now) { if (this.current && !this.root.hidden) this.made.get(this.current)?.draw?.(now); }
}
