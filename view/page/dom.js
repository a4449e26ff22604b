// dom creates elements. Texts from outside become text nodes, never markup. The page's policy makes
// browsers refuse markup from texts.

// el returns an element with the given attributes and children. A child is a node or a text.
export function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) e.setAttribute(name, "");
    else if (value !== false && value != null) e.setAttribute(name, value);
  }
  e.append(...children);
  return e;
}

// svg is like el, for SVG elements.
export function svg(tag, attributes = {}, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  e.append(...children);
  return e;
}

// say sets the text of a node if the text differs. Even a write that changes nothing would cost a
// layout.
export function say(node, text) {
  if (node.firstChild?.nodeType === Node.TEXT_NODE && !node.firstChild.nextSibling) {
    if (node.firstChild.data !== text) node.firstChild.data = text;
  } else if (node.textContent !== text) node.textContent = text;
}

export const byId = (id) => document.getElementById(id);

// replace replaces all children of a node.
export function replace(node, ...children) { node.replaceChildren(...children); }
