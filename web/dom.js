// Building blocks of the page. Text is only ever put in as text: what a snippet
// printed may hold markup, which must be seen and never be acted on. The page's
// policy (Trusted Types) makes the browser refuse any other way.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

/** An HTML element; children are nodes or text, null ones are left out. */
export function el(name, attributes, ...children) {
  return complete(document.createElement(name), attributes, children);
}

/** The same for SVG. */
export function svg(name, attributes, ...children) {
  return complete(document.createElementNS(SVG, name), attributes, children);
}

function complete(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** Changes a text only where it is another one, so that a selection survives. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A table; each cell is text or a node, the first one heads its row. */
export function table(caption, heads, rows) {
  const cell = (value, i) => (i === 0 ? el("th", { scope: "row" }, value) : el("td", { class: "number" }, value));
  return el(
    "table", null,
    el("caption", { class: "unseen" }, caption),
    el("thead", null, el("tr", null, ...heads.map((h, i) => el("th", { scope: "col", class: i > 0 ? "number" : null }, h)))),
    el("tbody", null, ...rows.map((row) => el("tr", null, ...row.map(cell)))),
  );
}

/** Tells those who do not see the page what has just changed on it. */
export function announce(text) {
  setText(byId("announce"), text);
}

/**
 * Says that a button is at work. It is not disabled, because that would take
 * the focus away from whoever has just pressed it.
 */
export function setBusy(button, busy) {
  button.setAttribute("aria-disabled", String(busy));
}

export const isBusy = (button) => button.getAttribute("aria-disabled") === "true";

/** A badge with the outcome's word, so that colour is never all there is. */
export const badge = (outcome) => el("span", { class: `badge ${outcome}` }, outcome);
