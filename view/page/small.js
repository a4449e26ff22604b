// small has the small pictures, each about one idea, and each reached from the box that it is about.
import { el, replace, say } from "./dom.js";

// pictures are in the order of their letters.
export const pictures = [];

export class Small {
  constructor(root) { this.root = root; this.made = new Map(); }

  begin(hello) {
    this.made.clear();
    for (const p of pictures) this.made.set(p.id, new p.Picture(hello));
    replace(this.root);
    if (!pictures.length) { this.root.hidden = true; return; }
    this.tabs = el("div", { class: "tabs", role: "tablist", "aria-label": "Small pictures" }, ...pictures.map((p, n) => {
      const tab = el("button", { role: "tab", id: "tab-" + p.id, "aria-controls": "small-panel" }, el("kbd", { "aria-hidden": "true" }, "abcdefghi"[n]), p.title);
      tab.addEventListener("click", () => this.open(p.id));
      return tab;
    }));
    this.panel = el("div", { id: "small-panel", role: "tabpanel" });
    this.root.append(this.tabs, this.panel);
    this.open(this.current ?? pictures[0].id, true);
  }

  nth(n) { if (pictures[n]) this.open(pictures[n].id); }

  open(id, quietly) {
    const picture = this.made.get(id), p = pictures.find((x) => x.id === id);
    if (!picture) return;
    this.current = id;
    for (const tab of this.tabs.children) tab.setAttribute("aria-selected", String(tab.id === "tab-" + id));
    this.panel.setAttribute("aria-labelledby", "tab-" + id);
    replace(this.panel, el("p", { class: "lead" }, p.lead), picture.node);
    if (!quietly) this.root.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }

  // frame gives a frame to all of them: they remember what happened before they were opened.
  frame(frame, boxes, hello) { for (const p of this.made.values()) p.frame(frame, boxes, hello); }

  // draw has the open one drawn, before a repaint.
  draw(now, past) { if (this.current && !this.root.hidden) this.made.get(this.current)?.draw?.(now, past); }
}
export { say };
