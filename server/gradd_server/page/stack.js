// A session's memory over its batches as stacked areas in SVG, with a cross that follows the pointer and the arrow
// keys, and its points as a table.

import { ticks } from "./chart.js";
import { bytes, duration, h, legend, say, svg, whole } from "./dom.js";

const WIDTH = 960, HEIGHT = 300, LEFT = 72, RIGHT = 12, TOP = 10, BOTTOM = 26;
const ROWS = 40; // of the table
const OTHERS = 8; // the colour of what is in no layer

// What is held beside the elements of tensors.
export const BESIDE = {
  objects: "tensors and nodes themselves", plans: "plans", results: "results to be read", uploads: "uploads that wait",
  rest: "programs, replies",
};

function byteTicks(high) {
  let unit = 1;
  while (high / unit >= 1024) unit *= 1024;
  return ticks(0, high / unit, 4).map((n) => n * unit);
}

// The layers of a course from the bottom up, and what they do not make up.
function bandsOf(course) {
  const bands = course.layers.map((layer, at) => (layer.kind === "beside"
    ? { label: BESIDE[layer.label], kind: "", bytes: layer.bytes, colour: at } : { ...layer, colour: at }));
  const rest = course.bytes.map((all, n) => Math.max(0, all - bands.reduce((sum, b) => sum + b.bytes[n], 0)));
  if (rest.some((n) => n > 0) || !bands.length) {
    bands.push({ label: bands.length ? "all others" : "all", kind: "", bytes: rest, colour: OTHERS });
  }
  return bands;
}

export function stackChart() {
  const plot = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", tabindex: 0, onkeydown: moved, onpointermove: pointed,
  });
  const readout = h("output", { class: "mono", "aria-live": "polite" });
  const names = h("div");
  const head = h("tr");
  const body = h("tbody");
  const element = h("figure", {}, h("figcaption", {}, h("strong", {}, "Memory after each batch"), readout), plot,
    names, h("details", {}, h("summary", {}, "The numbers of the course"),
      h("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "The numbers of the course" },
        h("table", {}, h("thead", {}, head), body))));
  const cross = svg("line", { class: "cross", y1: TOP, y2: HEIGHT - BOTTOM, visibility: "hidden" });
  let course = null;
  let bands = [];
  let at = -1;
  let toX = () => LEFT;

  function update(found) {
    course = found;
    bands = bandsOf(course);
    const [first, last] = [course.batches[0], course.batches[course.batches.length - 1]];
    const high = Math.max(1, ...course.bytes);
    toX = (x) => LEFT + ((WIDTH - LEFT - RIGHT) * (x - first)) / (last - first || 1);
    const toY = (y) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * y) / high;
    const parts = [];
    const base = course.batches.map(() => 0);
    for (const band of bands) {
      const lower = course.batches.map((x, n) => [x, base[n]]);
      band.bytes.forEach((nbytes, n) => { base[n] += nbytes; });
      const upper = course.batches.map((x, n) => [x, base[n]]);
      if (upper.length === 1) { // one moment is as wide as the picture
        upper.push([first + 1, base[0]]);
        lower.push([first + 1, lower[0][1]]);
      }
      const points = [...upper, ...lower.reverse()].map(([x, y]) => `${toX(x).toFixed(1)} ${toY(y).toFixed(1)}`);
      parts.push(svg("path", { class: `area f${band.colour}`, d: `M${points.join("L")}Z` }));
    }
    for (const y of byteTicks(high)) {
      parts.push(svg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: toY(y), y2: toY(y) }));
      parts.push(svg("text", { x: LEFT - 6, y: toY(y) + 4, "text-anchor": "end" }, bytes(y)));
    }
    for (const x of ticks(first, last, 8).filter(Number.isInteger)) {
      parts.push(svg("text", { x: toX(x), y: HEIGHT - 8, "text-anchor": "middle" }, whole(x)));
    }
    plot.replaceChildren(...parts, cross);
    const count = course.batches.length;
    plot.setAttribute("aria-label", `Memory: ${count} points, ${bytes(course.bytes[count - 1])} after ` +
      `${whole(last)} batches; arrow keys read others`);
    names.replaceChildren(legend(bands.map(titled), (n) => bands[n].colour));
    at = Math.min(at, count - 1);
    if (at < 0) say(readout, told(count - 1));
    else read(at);
    head.replaceChildren(...["batches", "all", ...bands.map(titled)].map((text) => h("th", { scope: "col" }, text)));
    const rows = course.batches.map((x, n) => h("tr", {}, h("td", {}, whole(x)), h("td", {}, bytes(course.bytes[n])),
      bands.map((band) => h("td", {}, bytes(band.bytes[n])))));
    body.replaceChildren(...rows.slice(-ROWS).reverse());
  }

  const titled = (band) => (band.kind && band.kind !== "saved" ? `${band.label} (${band.kind})` : band.label);

  function told(n) {
    const largest = bands.filter((band) => band.bytes[n]).sort((a, b) => b.bytes[n] - a.bytes[n]).slice(0, 3)
      .map((band) => `${band.label} ${bytes(band.bytes[n])}`);
    return `${bytes(course.bytes[n])} after ${whole(course.batches[n])} batches, ` +
      `${duration(course.seconds_ago[n])} ago: ${largest.join(", ")}`;
  }

  function read(n) {
    if (!course) return;
    at = Math.max(0, Math.min(course.batches.length - 1, n));
    const where = toX(course.batches[at]).toFixed(1);
    cross.setAttribute("x1", where);
    cross.setAttribute("x2", where);
    cross.setAttribute("visibility", "visible");
    say(readout, told(at));
  }

  function moved(event) {
    const end = (course?.batches.length ?? 1) - 1;
    const from = at < 0 ? end : at;
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: end }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    read(to);
  }

  function pointed(event) {
    if (!course) return;
    const box = plot.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * WIDTH;
    const far = course.batches.map((batch) => Math.abs(toX(batch) - x));
    read(far.indexOf(Math.min(...far)));
  }

  return { element, update };
}
