// Elements, and how numbers are said. Text is always set as text: nothing from the daemon becomes markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

export const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function bytes(count) {
  if (count === undefined) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  while (count >= 1024 && at < units.length - 1) {
    count /= 1024;
    at += 1;
  }
  return `${at ? count.toFixed(1) : count} ${units[at]}`;
}

export const whole = (count) => (count === undefined ? "–" : count.toLocaleString("en"));

export function duration(seconds) {
  if (seconds === undefined) return "–";
  if (seconds < 1e-3) return `${(1e6 * seconds).toFixed(0)} µs`;
  if (seconds < 1) return `${(1e3 * seconds).toFixed(1)} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function number(value) {
  if (typeof value !== "number") return String(value);
  const size = Math.abs(value);
  if (value === 0 || Number.isInteger(value)) return size < 1e7 ? whole(value) : value.toExponential(3);
  return size >= 1e-3 && size < 1e5 ? Number(value.toPrecision(5)).toString() : value.toExponential(3);
}

// A table whose rows have keys: cells change in place, so that focus and selection stay where they are.
// columns: [head, the cell's text or element, class]
export function liveTable(caption, columns, empty) {
  const body = h("tbody");
  const none = h("td", { colspan: columns.length, class: "start quiet" }, empty);
  const heads = columns.map(([head, , kind]) => h("th", { scope: "col", class: kind }, head));
  const table = h("table", {}, h("caption", {}, caption), h("thead", {}, h("tr", {}, heads)), body);
  const box = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, table);
  const rows = new Map();
  const update = (items) => {
    const kept = new Set();
    let before = null;
    for (const [key, item] of items) {
      kept.add(key);
      let row = rows.get(key);
      if (!row) {
        row = h("tr", {}, columns.map(([, , kind]) => h("td", { class: kind })));
        rows.set(key, row);
      }
      columns.forEach(([, cell], at) => {
        const shown = cell(item);
        const place = row.cells[at];
        if (typeof shown === "string") say(place, shown);
        else if (place.textContent !== shown.textContent || !place.firstElementChild) place.replaceChildren(shown);
      });
      const next = before ? before.nextSibling : body.firstChild;
      if (next !== row) body.insertBefore(row, next);
      before = row;
    }
    for (const [key, row] of rows) {
      if (!kept.has(key)) {
        row.remove();
        rows.delete(key);
      }
    }
    if (!rows.size) body.replaceChildren(h("tr", {}, none));
    else none.parentNode?.remove();
  };
  update([]);
  return { box, update };
}

export const legend = (names, colour) =>
  h("ul", { class: "legend" }, names.map((name, at) =>
    h("li", {}, h("span", { class: `swatch b${colour(at)}`, "aria-hidden": "true" }), name)));
