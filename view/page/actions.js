// actions are the buttons of the laboratory. Each button is an action that the program offers.
// Everything that the page knows about an action is in the first line of the stream.
import { el, replace, say } from "./dom.js";
import { act, refusal, session } from "./source.js";

export class Actions {
  // root has the buttons for the whole pipeline, and boxes has the buttons of single boxes. lock is
  // called with the reason why the buttons cannot be pressed.
  constructor(root, said, wrote, lock) { Object.assign(this, { root, said, wrote, lock }); }

  begin(hello, boxes) {
    replace(this.root);
    this.keys = new Map();
    const all = hello.actions ?? [];
    this.root.hidden = !all.some((a) => !a.box);
    for (const action of all) {
      const place = action.box ? boxes.actions.get(action.box) : this.root;
      place?.append(this.form(action));
    }
    if (all.length && !session) this.lock(refusal || "The buttons of this page need the token.");
  }

  form(action) {
    const inputs = (action.inputs ?? []).map((i) => {
      const input = i.choices?.length
        ? el("select", { name: i.id }, ...i.choices.map((c) => el("option", { value: c, selected: c === i.default }, c)))
        : el("input", { name: i.id, type: "number", value: i.default, min: i.min ?? 0, max: i.max ?? 0, step: 1, required: true });
      return [input, el("label", {}, i.label + " ", input)];
    });
    const button = el("button", { "data-action": action.id, title: action.help, disabled: !session }, action.label);
    const press = () => {
      if (inputs.every(([input]) => input.reportValidity())) this.do(action, button, Object.fromEntries(inputs.map(([input]) => [input.name, input.value])));
    };
    button.addEventListener("click", press);
    if (action.key) this.keys.set(action.key, press);
    return el("div", { class: "action" }, button, ...inputs.map(([, label]) => label));
  }

  async do(action, button, values) {
    button.disabled = true;
    try {
      say(this.said, await act(action.id, values));
      if (action.box === "server") this.wrote?.();
    } catch (e) { say(this.said, "✗ " + e.message); }
    button.disabled = false;
  }

  // press presses the button that has this key. It returns whether there is such a button.
  press(key) {
    const press = this.keys?.get(key);
    press?.();
    return Boolean(press);
  }

  // show marks the buttons of settings that differ from their initial values.
  show(state = {}) {
    const text = Object.entries(state).map(([what, of]) => `${what}: ${of}`).join(" · ");
    if (text !== this.text) { this.text = text; this.said.dataset.state = text; }
    return text;
  }
}
