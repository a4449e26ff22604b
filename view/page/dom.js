// dom makes elements. Texts of others become text nodes, never markup: the page's policy has browsers refuse
// anything else.

// el returns an element with attributes and children, which are nodes or texts.
export function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) e.setAttribute(name, "");
    else if (value !== false && value != null) e.setAttribute(name, value);
  }
  e.append(...children);
  return e;
}

// svg is el for drawings.
export function svg(tag, attributes = {}, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  e.append(...children);
  return e;
}

// say sets a text, if it is another one: a write that changes nothing costs a layout as well.
export function say(node, text) {
  if (node.firstChild?.nodeType === Node.TEXT_NODE && !node.firstChild.nextSibling) {
    if (node.firstChild.data !== text) node.firstChild.data = text;
  } else if (node.textContent !== text) node.textContent = text;
}

export const byId = (id) => document.getElementById(id);

// replace makes children the only ones of a node.
export function replace(node, ...children) { node.replaceChildren(...children); }
