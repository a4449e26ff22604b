// keyboard handles the keys of the page.
import { byId, el, replace } from "./dom.js";
import { letters } from "./small.js";

const keys = [
  ["1 to 7", "go to a box; Tab then goes to its pictures"],
  ["Space", "freeze the picture, or let it continue"],
  ["t", "show all numbers as a table"],
  ["i", "show all pipelines, problems first"],
  ["a, b, c …", "open a small picture"],
  ["l", "start the guided tour; then → and ← go forward and back, Esc ends the tour"],
  ["?", "show this list"],
];

export function keyboard({ action, hold, table, all, tour, small }) {
  const help = byId("keys");
  replace(help.querySelector("dl"), ...keys.flatMap(([k, what]) => [el("dt", {}, el("kbd", {}, k)), el("dd", {}, what)]));
  byId("show-keys").addEventListener("click", () => help.showModal());
  addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || help.open) return;
    if (e.target.closest?.("input, select, textarea")) return;
    if (e.key >= "1" && e.key <= "7") {
      const box = document.querySelectorAll("#picture .box")[e.key - 1];
      box?.focus();
      box?.scrollIntoView({ block: "nearest" });
    } else if (e.key === " " && e.target.closest?.("button") == null) hold();
    else if (e.key === "t") table();
    else if (e.key === "i") all();
    else if (e.key === "l") tour();
    else if (e.key === "?") help.showModal();
    else if (e.key.length === 1 && letters.includes(e.key)) small(letters.indexOf(e.key));
    else if (!action(e.key)) return;
    e.preventDefault();
  });
}
