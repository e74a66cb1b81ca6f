// The autograd graph of a tensor on a canvas: dragged, zoomed by wheel and buttons, walked by arrow keys. Only
// what is in sight is drawn, so that it is as quick with 10,000 nodes.

import { get, sessionPath } from "./api.js";
import { bytes, h, say, whole } from "./dom.js";
import { HIGH, WIDE, layout } from "./layout.js";

const MOST = 10000;
const READABLE = 0.1; // a graph that fits only below this zoom is shown from its root
const PLAIN = 0.35; // below this zoom nodes are drawn without words

const short = (name) => name.split("::").pop();
const shape = (o) => `${o.dtype} [${o.shape.join(", ")}]`;
const kept = (node) => node.saved.reduce((sum, s) => sum + s.bytes, 0);
const line = (node) => (node.source ? `${node.source.file}:${node.source.line}` : "");
const title = (node) => (node.leaf?.tensor ? `${short(node.name)} ${node.leaf.tensor}` : short(node.name));

export function graphView(name) {
  const choice = h("input", { id: "tensor", list: "tensors", size: 22, required: true, autocomplete: "off" });
  const known = h("datalist", { id: "tensors" });
  const form = h("form", {
    onsubmit(event) {
      event.preventDefault();
      load();
    },
  }, h("label", { for: "tensor" }, "tensor"), choice, known, h("button", { class: "main" }, "Show its graph"));
  const zooms = [["Zoom in", () => zoom(1.4)], ["Zoom out", () => zoom(1 / 1.4)], ["Fit", () => fit()]]
    .map(([text, onclick]) => h("button", { type: "button", onclick, disabled: true }, text));
  const canvas = h("canvas", {
    height: 480, tabindex: 0, role: "application", hidden: true, "aria-describedby": "graph-help",
    "aria-label": "Graph", onkeydown: walked, onwheel: wheeled, onpointerdown: pressed, onpointermove: dragged,
    onpointerup: released,
  });
  const help = h("p", { id: "graph-help", class: "quiet", hidden: true },
    "Arrow keys walk along the edges and within a layer, + and - zoom, 0 fits; drag to move.");
  const state = h("p", { role: "status" });
  const node = h("dl", { "aria-live": "polite" });
  const element = h("div", {}, form, h("div", { class: "controls" }, zooms), state, canvas, help,
    h("h2", {}, "The chosen node"), node);
  let graph = null;
  let placed = null;
  let scale = 1, left = 0, top = 0;
  let chosen = 0;
  let drag = null;
  let closed = false;
  let due = false;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", draw);
  const sized = new ResizeObserver(draw);
  sized.observe(canvas);

  async function list() {
    try {
      const { tensors } = await get(sessionPath(name, "/tensors"));
      const with_graph = tensors.filter((t) => t.requires_grad);
      known.replaceChildren(...with_graph.slice(0, 500).map((t) =>
        h("option", { value: t.name ?? t.id }, `${t.dtype} [${t.shape.join(", ")}]`)));
      const last = with_graph.filter((t) => t.has_graph).pop() ?? with_graph[0];
      if (!choice.value && last) choice.value = last.name ?? last.id;
      if (!with_graph.length) say(state, "No tensor of the session requires gradients.");
    } catch (problem) {
      say(state, problem.message);
    }
  }

  async function load() {
    try {
      const id = choice.value.trim().split("/").map(encodeURIComponent).join("/");
      graph = await get(sessionPath(name, `/tensors/${id}/graph?max_nodes=${MOST}`));
    } catch (problem) {
      say(state, problem.message);
      return;
    }
    if (closed) return;
    const there = graph.root !== null;
    canvas.hidden = help.hidden = !there;
    for (const button of zooms) button.disabled = !there;
    if (!there) {
      say(state, "There is no graph: the tensor needs no gradient.");
      node.replaceChildren();
      return;
    }
    placed = layout(graph);
    const total = graph.nodes.reduce((sum, each) => sum + kept(each), 0);
    say(state, `${whole(graph.nodes.length)} nodes, ${whole(graph.edges.length)} edges, ${bytes(total)} saved` +
      (graph.truncated ? `; there are more than ${whole(MOST)} nodes` : ""));
    choose(graph.root);
    fit();
    if (scale < READABLE) reveal();
  }

  function choose(at) {
    chosen = at;
    const it = graph.nodes[at];
    const rows = [["node", title(it)], ["outputs", it.outputs.map(shape).join("; ") || "–"],
      ["saved", it.freed ? "freed by a pass"
        : it.saved.map((s) => `${s.name}: ${shape(s)}, ${bytes(s.bytes)}`).join("; ") || "nothing"],
      ["made in", line(it) || (it.leaf ? "–" : "a line that nobody told")],
      ["goes to", placed.below[at].map((n) => title(graph.nodes[n])).join(", ") || "–"]];
    node.replaceChildren(...rows.flatMap(([word, text]) => [h("dt", {}, word), h("dd", {}, text)]));
    draw();
  }

  const size = () => [canvas.clientWidth, canvas.clientHeight];

  function fit() {
    const [wide, high] = size();
    scale = Math.min(1, wide / (placed.width + 40), high / (placed.height + 40));
    left = (wide - placed.width * scale) / 2;
    top = Math.max(20 * scale, (high - placed.height * scale) / 2);
    draw();
  }

  function zoom(by, x, y) {
    const [wide, high] = size();
    x ??= wide / 2;
    y ??= high / 2;
    const to = Math.max(0.002, Math.min(4, scale * by));
    left = x - ((x - left) * to) / scale;
    top = y - ((y - top) * to) / scale;
    scale = to;
    draw();
  }

  function reveal() {
    const [wide, high] = size();
    if (scale < PLAIN) scale = 0.8;
    left = wide / 2 - (placed.x[chosen] + WIDE / 2) * scale;
    top = high / 2 - (placed.y[chosen] + HIGH / 2) * scale;
    draw();
  }

  function walked(event) {
    if (!placed) return;
    const row = placed.layers.find((nodes) => nodes.includes(chosen));
    const at = row.indexOf(chosen);
    const to = {
      ArrowDown: placed.below[chosen][0], ArrowUp: placed.above[chosen][0],
      ArrowLeft: row[at - 1], ArrowRight: row[at + 1], Home: graph.root,
    };
    if (event.key in to) {
      if (to[event.key] !== undefined) choose(to[event.key]);
      reveal();
    } else if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 1.4 : 1 / 1.4);
    else if (event.key === "0") fit();
    else return;
    event.preventDefault();
  }

  function wheeled(event) {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
  }

  function pressed(event) {
    canvas.setPointerCapture(event.pointerId);
    drag = { x: event.offsetX, y: event.offsetY, left, top, moved: false };
  }

  function dragged(event) {
    if (!drag) return;
    drag.moved ||= Math.hypot(event.offsetX - drag.x, event.offsetY - drag.y) > 4;
    left = drag.left + event.offsetX - drag.x;
    top = drag.top + event.offsetY - drag.y;
    draw();
  }

  function released(event) {
    if (drag && !drag.moved) {
      const x = (event.offsetX - left) / scale;
      const y = (event.offsetY - top) / scale;
      const hit = graph.nodes.findIndex((_, n) =>
        x >= placed.x[n] && x <= placed.x[n] + WIDE && y >= placed.y[n] && y <= placed.y[n] + HIGH);
      if (hit >= 0) choose(hit);
    }
    drag = null;
  }

  function draw() {
    if (due || !placed || canvas.hidden) return;
    due = true;
    requestAnimationFrame(paint);
  }

  function paint() {
    due = false;
    const [wide, high] = size();
    const dense = devicePixelRatio || 1;
    canvas.width = Math.round(wide * dense);
    canvas.height = Math.round(high * dense);
    const style = getComputedStyle(canvas);
    const colour = (word) => style.getPropertyValue(word);
    const pen = canvas.getContext("2d");
    pen.setTransform(dense * scale, 0, 0, dense * scale, dense * left, dense * top);
    const [x0, y0, x1, y1] = [-left / scale, -top / scale, (wide - left) / scale, (high - top) / scale];
    const { x, y } = placed;
    pen.strokeStyle = colour("--quiet");
    pen.lineWidth = 1 / scale;
    pen.beginPath();
    for (const { from, to } of graph.edges) {
      const [ax, ay, bx, by] = [x[from] + WIDE / 2, y[from] + HIGH, x[to] + WIDE / 2, y[to]];
      if (Math.max(ax, bx) < x0 || Math.min(ax, bx) > x1 || by < y0 || ay > y1) continue;
      pen.moveTo(ax, ay);
      pen.bezierCurveTo(ax, ay + 20, bx, by - 20, bx, by);
    }
    pen.stroke();
    const words = scale >= PLAIN;
    graph.nodes.forEach((it, n) => {
      if (x[n] > x1 || x[n] + WIDE < x0 || y[n] > y1 || y[n] + HIGH < y0) return;
      pen.fillStyle = colour("--raised");
      pen.fillRect(x[n], y[n], WIDE, HIGH);
      pen.strokeStyle = colour(n === chosen ? "--c1" : it.leaf ? "--c2" : "--c0");
      pen.lineWidth = n === chosen ? Math.max(4, 3 / scale) : Math.max(1.5, 1 / scale);
      pen.strokeRect(x[n], y[n], WIDE, HIGH);
      if (!words) return;
      pen.fillStyle = colour("--text");
      pen.font = "600 13px system-ui, sans-serif";
      pen.fillText(title(it), x[n] + 8, y[n] + 18, WIDE - 16);
      pen.font = "12px system-ui, sans-serif";
      pen.fillStyle = colour("--quiet");
      pen.fillText(it.outputs.map(shape).join("; "), x[n] + 8, y[n] + 36, WIDE - 16);
      const saved = it.freed ? "freed" : it.saved.length ? `saved ${bytes(kept(it))}` : "";
      const where = line(it).split("/").pop(); // the whole is below
      pen.fillText([saved, where].filter(Boolean).join(", "), x[n] + 8, y[n] + 53, WIDE - 16);
    });
  }

  list();
  return {
    element,
    close() {
      closed = true;
      sized.disconnect();
      dark.removeEventListener("change", draw);
    },
  };
}
