// The latest batches on a line of time, a row each for record, front, queue, engine and kernels: dragged, zoomed by
// wheel and buttons, walked by arrow keys. What is too narrow to see is drawn together.

import { ticks } from "./chart.js";
import { duration, h, say, svg, whole } from "./dom.js";
import { rowsOf } from "./spans.js";

const WIDTH = 1100, LEFT = 62, RIGHT = 8, LANE = 24, GAP = 8, AXIS = 24;
const SCALE = WIDTH - LEFT - RIGHT;
const NARROW = 1.5; // of a unit: what is narrower is drawn together
const LETTER = 6.4; // about as wide

export function flameChart() {
  const plot = svg("svg", {
    role: "application", tabindex: 0, "aria-label": "The latest batches", "aria-describedby": "flame-help", class: "flame",
    onkeydown: walked, onwheel: wheeled, onpointerdown: pressed, onpointermove: dragged, onpointerup: released,
  });
  const zooms = [["Zoom in", () => zoom(1.6)], ["Zoom out", () => zoom(1 / 1.6)], ["All", () => all()]]
    .map(([text, onclick]) => h("button", { type: "button", onclick }, text));
  const facts = h("dl", { "aria-live": "polite" });
  const element = h("div", { hidden: true }, h("div", { class: "controls" }, zooms), h("figure", {}, plot),
    h("p", { id: "flame-help", class: "quiet" }, "Arrow keys walk along a row and from row to row, + and - zoom, " +
      "0 shows all; drag to move. Orange batches ran eagerly."), h("h3", {}, "The chosen span"), facts);
  let rows = [];
  let tops = [];
  let begin = 0, end = 1; // of what there is
  let from = 0, to = 1; // of what is shown
  let chosen = null;
  let drag = null;

  function update(batches) {
    rows = rowsOf(batches).filter(({ spans }) => spans.length);
    element.hidden = !rows.length;
    if (!rows.length) return;
    const spans = rows.flatMap((row) => row.spans);
    begin = Math.min(...spans.map((s) => s.began));
    end = Math.max(...spans.map((s) => s.ended), begin + 1e-6);
    let top = AXIS;
    tops = rows.map(({ lanes }) => {
      const at = top;
      top += lanes * LANE + GAP;
      return at;
    });
    plot.setAttribute("viewBox", `0 0 ${WIDTH} ${top}`);
    const row = rows.findIndex((each) => each.row === "engine");
    choose(row, rows[row].spans.length - 1);
    all();
  }

  const toX = (moment) => LEFT + (SCALE * (moment - from)) / (to - from);

  function all() {
    [from, to] = [begin, end];
    draw();
  }

  function zoom(by, around = rows[chosen.row].spans[chosen.at].began) {
    const wide = Math.min(end - begin, Math.max(2e-6, (to - from) / by));
    const where = Math.max(0, Math.min(1, (around - from) / (to - from)));
    show(around - where * wide, wide);
  }

  function show(wanted, wide) {
    from = Math.max(begin, Math.min(end - wide, wanted));
    to = from + wide;
    draw();
  }

  function choose(row, at) {
    chosen = { row, at: Math.max(0, Math.min(rows[row].spans.length - 1, at)) };
    const span = rows[row].spans[chosen.at];
    const said = [[rows[row].row, span.name], ["began", `${duration(span.began - begin)} after the first`],
      ["took", duration(span.ended - span.began)], ...span.facts];
    facts.replaceChildren(...said.flatMap(([word, text]) => [h("dt", {}, word), h("dd", {}, text)]));
  }

  function reveal() {
    const { began, ended } = rows[chosen.row].spans[chosen.at];
    if (began < from || ended > to) show((began + ended) / 2 - (to - from) / 2, to - from);
    else draw();
  }

  function walked(event) {
    if (!chosen) return;
    const { row, at } = chosen;
    const { key } = event;
    if (key === "ArrowLeft" || key === "ArrowRight") choose(row, at + (key === "ArrowRight" ? 1 : -1));
    else if (key === "Home" || key === "End") choose(row, key === "Home" ? 0 : Infinity);
    else if (key === "ArrowUp" || key === "ArrowDown") {
      const next = Math.max(0, Math.min(rows.length - 1, row + (key === "ArrowDown" ? 1 : -1)));
      const { began } = rows[row].spans[at];
      const first = rows[next].spans.findIndex((s) => s.ended > began);
      if (next !== row) choose(next, first < 0 ? Infinity : first);
    } else if (key === "+" || key === "-") zoom(key === "+" ? 1.6 : 1 / 1.6);
    else if (key === "0") all();
    else return;
    event.preventDefault();
    reveal();
  }

  function place(event) {
    const box = plot.getBoundingClientRect();
    const unit = WIDTH / box.width;
    return [(event.clientX - box.left) * unit, (event.clientY - box.top) * unit];
  }

  const momentAt = (x) => from + ((x - LEFT) / SCALE) * (to - from);

  function wheeled(event) {
    if (!chosen) return;
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 400), momentAt(place(event)[0]));
  }

  function pressed(event) {
    plot.setPointerCapture(event.pointerId);
    drag = { x: place(event)[0], from, moved: false };
  }

  function dragged(event) {
    if (!drag) return;
    const far = place(event)[0] - drag.x;
    drag.moved ||= Math.abs(far) > 4;
    if (drag.moved) show(drag.from - (far / SCALE) * (to - from), to - from);
  }

  function released(event) {
    if (drag && !drag.moved) {
      const [x, y] = place(event);
      const row = tops.findLastIndex((top) => y >= top);
      const lane = Math.floor((y - tops[row]) / LANE);
      const slack = (2 / SCALE) * (to - from);
      const at = rows[row]?.spans.findIndex((s) =>
        s.lane === lane && s.began - slack <= momentAt(x) && s.ended + slack >= momentAt(x));
      if (at >= 0) {
        choose(row, at);
        draw();
      }
    }
    drag = null;
  }

  function draw() {
    const parts = [];
    for (const at of ticks(from - begin, to - begin, 8)) {
      const x = toX(begin + at);
      parts.push(svg("line", { class: "grid", x1: x, x2: x, y1: AXIS - 4, y2: "100%" }));
      parts.push(svg("text", { x: x + 3, y: 14 }, duration(at)));
    }
    rows.forEach(({ row, spans, lanes }, n) => {
      parts.push(svg("text", { x: 4, y: tops[n] + 16 }, row));
      for (let lane = 0; lane < lanes; lane += 1) {
        parts.push(...drawn(spans.filter((s) => s.lane === lane && s.ended >= from && s.began <= to),
          tops[n] + lane * LANE));
      }
    });
    if (chosen) {
      const { began, ended, lane } = rows[chosen.row].spans[chosen.at];
      const [x0, x1] = [Math.max(LEFT, toX(began)), Math.min(WIDTH - RIGHT, toX(ended))];
      if (x1 >= LEFT && x0 <= WIDTH - RIGHT) {
        parts.push(svg("rect", { class: "chosen", x: x0 - 1, width: Math.max(3, x1 - x0 + 2),
          y: tops[chosen.row] + lane * LANE - 1, height: LANE }));
      }
    }
    plot.replaceChildren(...parts);
  }

  // The rectangles of one lane.
  function drawn(spans, y) {
    const parts = [];
    let group = null;
    const flush = () => {
      if (!group) return;
      const { x0, x1, count, span, seconds } = group;
      const said = count > 1 ? `${whole(count)} spans, ${duration(seconds)}` : `${span.name}, ${duration(seconds)}`;
      parts.push(svg("rect", { class: `f${span.colour}`, x: x0.toFixed(2), width: Math.max(0.7, x1 - x0).toFixed(2), y,
        height: LANE - 2 }, svg("title", {}, said)));
      const room = Math.floor((x1 - x0 - 8) / LETTER);
      if (count === 1 && room > 3) {
        const text = span.name.length > room ? `${span.name.slice(0, room - 1)}…` : span.name;
        parts.push(svg("text", { class: "on", x: (x0 + 4).toFixed(2), y: y + 15 }, text));
      }
      group = null;
    };
    for (const span of spans) {
      const [x0, x1] = [Math.max(LEFT, toX(span.began)), Math.min(WIDTH - RIGHT, toX(span.ended))];
      const seconds = span.ended - span.began;
      const narrow = x1 - x0 < NARROW;
      if (group && narrow && group.narrow && x0 - group.x1 < 1) {
        group.x1 = Math.max(group.x1, x1);
        group.count += 1;
        group.seconds += seconds;
      } else {
        flush();
        group = { x0, x1, count: 1, span, seconds, narrow };
      }
    }
    flush();
    return parts;
  }

  return { element, update };
}
