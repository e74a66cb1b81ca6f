// A curve as SVG, with a cross that follows the pointer and the arrow keys, and its points as a table.

import { h, number, say, svg } from "./dom.js";

const WIDTH = 560, HEIGHT = 240, LEFT = 62, RIGHT = 12, TOP = 10, BOTTOM = 26;
const ROWS = 40; // of the table

// About `count` round numbers from low to high, which may be as far apart or as close together as numbers are.
export function ticks(low, high, count) {
  const rough = high / count - low / count || (Math.abs(high) || 1) / count;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * unit).find((n) => n >= rough);
  const first = Math.ceil(low / step);
  const found = Array.from({ length: count + 1 }, (_, n) => (first + n) * step);
  return [...new Set(found)].filter((at) => Number.isFinite(at) && at <= high + step * 1e-9);
}

// Where each value is from low (0) to high (1).
function between(low, high) {
  const unit = Number.isFinite(high - low) ? 1 : 0.5;
  const span = unit * high - unit * low || 1;
  return (value) => (unit * value - unit * low) / span;
}

const real = (value) => (typeof value === "number" ? value : NaN);

export function curve(name, colour) {
  const plot = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", tabindex: 0, onkeydown: moved, onpointermove: pointed,
  });
  const readout = h("output", { class: "mono", "aria-live": "polite" });
  const table = h("table", {}, h("thead", {}, h("tr", {},
    h("th", { scope: "col" }, "step"), h("th", { scope: "col" }, "value"))));
  const body = h("tbody");
  table.append(body);
  const element = h("figure", {}, h("figcaption", {}, h("strong", {}, name), readout), plot,
    h("details", {}, h("summary", {}, `The numbers of ${name}`),
      h("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": `The numbers of ${name}` },
        table)));
  const cross = svg("line", { class: "cross", y1: TOP, y2: HEIGHT - BOTTOM, visibility: "hidden" });
  let points = [];
  let place = null;
  let at = -1;

  function update({ steps, values, count }, log) {
    points = steps.map((step, n) => [step, real(values[n])]);
    const drawn = points.filter(([, y]) => Number.isFinite(y) && (!log || y > 0));
    const scale = log ? Math.log10 : (y) => y;
    const xs = points.map(([x]) => x);
    const ys = drawn.map(([, y]) => scale(y));
    const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
    let [y0, y1] = ys.length ? [Math.min(...ys), Math.max(...ys)] : [0, 1];
    if (y0 === y1) {
      const room = Math.max(0.5, Math.abs(y0) / 4);
      [y0, y1] = [Math.max(y0 - room, -Number.MAX_VALUE), Math.min(y1 + room, Number.MAX_VALUE)];
    }
    const [along, up] = [between(x0, x1), between(y0, y1)];
    const toX = (x) => LEFT + (WIDTH - LEFT - RIGHT) * along(x);
    const toY = (y) => HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * up(y);
    place = toX;
    const parts = [];
    for (const y of ticks(y0, y1, 4)) {
      parts.push(svg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: toY(y), y2: toY(y) }));
      parts.push(svg("text", { x: LEFT - 6, y: toY(y) + 4, "text-anchor": "end" }, number(log ? Number((10 ** y).toPrecision(2)) : y)));
    }
    for (const x of ticks(x0, x1, 6)) {
      parts.push(svg("text", { x: toX(x), y: HEIGHT - 8, "text-anchor": "middle" }, number(x)));
    }
    let path = "";
    let gap = true;
    for (const [x, y] of points) {
      const there = Number.isFinite(y) && (!log || y > 0);
      if (there) path += `${gap ? "M" : "L"}${toX(x).toFixed(1)} ${toY(scale(y)).toFixed(1)}`;
      gap = !there;
    }
    parts.push(svg("path", { class: `curve s${colour}`, d: path }));
    if (drawn.length === 1) {
      const [[x, y]] = drawn;
      parts.push(svg("circle", { class: `f${colour}`, r: 3, cx: toX(x), cy: toY(scale(y)) }));
    }
    plot.replaceChildren(...parts, cross);
    const last = points[points.length - 1];
    plot.setAttribute("aria-label", last
      ? `${name}: ${count} points, the last ${number(last[1])} at step ${last[0]}; arrow keys read others`
      : `${name}: no points`);
    at = Math.min(at, points.length - 1);
    if (at < 0 && last) say(readout, `${number(last[1])} at ${last[0]}`);
    body.replaceChildren(...points.slice(-ROWS).reverse().map(([x, y]) =>
      h("tr", {}, h("td", {}, number(x)), h("td", {}, number(y)))));
  }

  function read(n) {
    if (!points.length) return;
    at = Math.max(0, Math.min(points.length - 1, n));
    const [x, y] = points[at];
    const where = place(x).toFixed(1);
    cross.setAttribute("x1", where);
    cross.setAttribute("x2", where);
    cross.setAttribute("visibility", "visible");
    say(readout, `${number(y)} at ${x}`);
  }

  function moved(event) {
    const size = Math.max(1, Math.round(points.length / 50));
    const from = at < 0 ? points.length - 1 : at;
    const to = { ArrowLeft: from - size, ArrowRight: from + size, Home: 0, End: points.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    read(to);
  }

  function pointed(event) {
    const box = plot.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * WIDTH;
    let best = 0;
    points.forEach(([step], n) => {
      if (Math.abs(place(step) - x) < Math.abs(place(points[best][0]) - x)) best = n;
    });
    read(best);
  }

  return { element, update };
}
