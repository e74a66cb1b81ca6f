// The curves that scripts log with session.log({...}).

import { get, sessionPath } from "./api.js";
import { curve } from "./chart.js";
import { h, say } from "./dom.js";

const EVERY = 2000; // ms between two looks, while the session computes

export function lossesView(name) {
  const none = h("p", {});
  const charts = h("div", { class: "charts" });
  const log = h("input", { type: "checkbox", onchange: () => draw() });
  const element = h("div", {}, h("div", { class: "controls" }, h("label", {}, log, "logarithmic")), none, charts);
  const curves = new Map();
  let told = null;
  let asking = false;
  let closed = false;
  let seen = null;
  let last = -EVERY;

  function draw() {
    const found = Object.entries(told.series);
    say(none, found.length ? "" : "Nothing is logged yet: session.log({\"loss\": loss}) in a script does, without a wait.");
    none.hidden = found.length > 0;
    for (const [word, series] of found) {
      if (!curves.has(word)) {
        const made = curve(word, curves.size % 7);
        curves.set(word, made);
        charts.append(made.element);
      }
      curves.get(word).update(series, log.checked);
    }
  }

  async function look() {
    if (asking || closed) return;
    asking = true;
    last = performance.now();
    try {
      told = await get(sessionPath(name, "/series"));
      if (!closed) draw();
    } catch (problem) {
      none.hidden = false;
      say(none, problem.message);
    } finally {
      asking = false;
    }
  }

  // A session that sleeps is asked once, when somebody looks at it; then when it has done something.
  function heard({ found }) {
    const batches = found?.counts?.batches;
    if (told && (batches === undefined || batches === seen)) return;
    if (performance.now() - last < EVERY) return;
    seen = batches;
    look();
  }

  return { element, heard, close: () => { closed = true; } };
}
