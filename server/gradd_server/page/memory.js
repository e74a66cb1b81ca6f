// What holds a session's memory, and how it came to be so.

import { bytes, h, liveTable, say, whole } from "./dom.js";
import { looking } from "./looking.js";
import { BESIDE, stackChart } from "./stack.js";

const KINDS = {
  leaf: "leaf", tensor: "no gradient", result: "with a history", gradient: "gradient", saved: "for backward",
  tangent: "tangent",
};

export function memoryView(name) {
  const state = h("p", { role: "status" });
  const chart = stackChart();
  const which = ["watched", "whole"].map((id) => h("input", {
    type: "radio", name: "course", value: id, checked: id === "watched", onchange: () => draw(),
  }));
  const choice = h("fieldset", { class: "controls" }, h("legend", {}, "Batches"),
    h("label", {}, which[0], "since somebody looks, by tensor"), h("label", {}, which[1], "all, the sum alone"));
  const facts = h("dl");
  const blocks = liveTable("Blocks of memory", [
    ["block", (b) => b.label], ["kind", (b) => KINDS[b.kind], "start"],
    ["type", (b) => `${b.dtype} [${b.shape.join(", ")}]`, "start"], ["memory", (b) => bytes(b.bytes)],
    ["held by", (b) => b.holders.join(", ") + (b.more ? ` and ${whole(b.more)} more` : ""), "wide"],
  ], "No tensor has memory.");
  const more = h("p", { class: "quiet" });
  const element = h("div", {}, choice, chart.element, state, h("h2", {}, "What holds it now"), facts, blocks.box, more);
  let told = null;

  function draw() {
    if (!told) return;
    chart.update(told[which.find((input) => input.checked).value]);
    const rows = [["elements of tensors", bytes(told.bytes)],
      ...Object.entries(told.beside).map(([key, nbytes]) => [BESIDE[key], bytes(nbytes)]), ["quota", bytes(told.limit)]];
    facts.replaceChildren(...rows.flatMap(([word, text]) => [h("dt", {}, word), h("dd", {}, text)]));
    blocks.update(told.blocks.map((block, n) => [n, block]));
    more.textContent = [
      told.more_blocks ? `and ${whole(told.more_blocks)} smaller blocks.` : "",
      told.untold ? `${bytes(told.untold)} more belong to a pass that is under way, or to what was not looked at.` : "",
      told.truncated ? "There is more than is looked at." : "",
    ].join(" ");
  }

  const { heard, close } = looking(name, "/memory", (answer) => {
    told = answer;
    say(state, "");
    draw();
  }, (problem) => say(state, problem.message));

  return { element, heard, close };
}
