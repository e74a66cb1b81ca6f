// The curves that scripts log with session.log({...}).

import { curve } from "./chart.js";
import { h, say } from "./dom.js";
import { looking } from "./looking.js";

export function lossesView(name) {
  const none = h("p", {});
  const charts = h("div", { class: "charts" });
  const log = h("input", { type: "checkbox", onchange: () => draw() });
  const element = h("div", {}, h("div", { class: "controls" }, h("label", {}, log, "logarithmic")), none, charts);
  const curves = new Map();
  let told = null;

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

  const { heard, close } = looking(name, "/series", (answer) => {
    told = answer;
    draw();
  }, (problem) => {
    none.hidden = false;
    say(none, problem.message);
  });

  return { element, heard, close };
}
