// How a session's batches run: how many are planned and why the others are not, and the latest on a line of time.

import { post, sessionPath } from "./api.js";
import { duration, h, liveTable, say, whole } from "./dom.js";
import { flameChart } from "./flame.js";
import { looking } from "./looking.js";
import { batchesOf } from "./spans.js";

const COUNT = 20; // batches that are measured at a time

export function batchesView(name) {
  const state = h("p", { role: "status" });
  const share = h("progress", { max: 1, value: 0, "aria-label": "Planned" });
  const shared = h("span");
  const reasons = liveTable("Why batches were not planned", [
    ["reason", (r) => r.why, "wide"], ["batches", (r) => whole(r.count)], ["of all", (r) => percent(r.count, r.all)],
  ], "All batches were planned, or none has run.");
  const again = h("input", { type: "checkbox", onchange: () => again.checked && measure() });
  const button = h("button", { type: "button", class: "main", onclick: () => measure() }, `Measure ${COUNT} batches`);
  // A share may not measure.
  const controls = h("div", { class: "controls", hidden: true }, button, h("label", {}, again, "again and again"));
  const flame = flameChart();
  const measured = liveTable("The batches that were measured", [
    ["batch", (b) => whole(b.position)], ["ran", (b) => b.how, "start"], ["steps", (b) => whole(b.steps)],
    ["recording", (b) => (b.recording ? duration(b.recording) : "–")],
    ["script, wire", (b) => duration(b.elsewhere)],
    ["front", (b) => duration(b.inFront)],
    ["queue", (b) => duration(b.waited)], ["engine", (b) => duration(b.seconds)],
    ["kernels", (b) => whole(b.calls.length)],
    ["in kernels", (b) => duration(b.calls.reduce((sum, call) => sum + call[2], 0))],
    ["why eager", (b) => b.why || "–", "wide"],
  ], "None yet.");
  const kernels = liveTable("Kernels by operation", [
    ["kernel", (k) => k.name], ["ran", (k) => k.how, "start"], ["calls", (k) => whole(k.calls)],
    ["time", (k) => duration(k.seconds)], ["a call", (k) => duration(k.seconds / k.calls)],
    ["of the engine's", (k) => percent(k.seconds, k.all)],
  ], "None yet.");
  const misses = liveTable("Programs that were new meanwhile", [
    ["program", (p) => p.program.slice(0, 8)], ["unlike", (p) => p.like.slice(0, 8) || "–", "start"],
    ["from step", (p) => (p.like ? whole(p.step) : "–")], ["has", (p) => p.found || "–", "wide"],
    ["where that has", (p) => p.was || "–", "wide"],
  ], "None: all were known.");
  const element = h("div", {}, h("div", { class: "controls" }, share, shared), reasons.box,
    h("h2", {}, "The latest batches"),
    h("p", { class: "quiet" }, "What is measured takes somewhat longer. “Script, wire” is the time in which " +
      "nothing of the session was here: only the script can tell more, with session.profile()."),
    controls, state, flame.element,
    h("section", {}, measured.box), h("section", {}, kernels.box), h("section", {}, misses.box));
  let told = null;
  let shown = "";

  function percent(part, all) {
    return all ? `${((100 * part) / all).toFixed(1)} %` : "–";
  }

  function draw() {
    const ran = told.planned + told.eager;
    share.value = ran ? told.planned / ran : 0;
    say(shared, `${percent(told.planned, ran)} planned: ${whole(told.planned)} of ${whole(ran)} batches, by ` +
      `${whole(told.traced)} plans that were made`);
    reasons.update(Object.entries(told.reasons).map(([why, count]) => [why, { why, count, all: ran }]));
    const { profile } = told;
    button.disabled = told.measuring;
    say(state, told.measuring ? "measuring the next batches" : "");
    if (!profile.batches.length || told.measuring) return;
    const mark = String(profile.batches[profile.batches.length - 1].position);
    if (mark === shown) return;
    shown = mark;
    const batches = batchesOf(profile);
    flame.update(batches);
    measured.update(batches.map((batch) => [batch.position, batch]).reverse());
    kernels.update(profile.kernels.map((k) => [`${k.name} ${k.how}`, { ...k, all: profile.seconds }]));
    misses.update(profile.misses.slice(-20).map((miss, n) => [n, miss]).reverse());
  }

  async function measure() {
    try {
      await post(sessionPath(name, ":measure"), { batches: COUNT });
    } catch (problem) {
      say(state, problem.message);
      return;
    }
    await activity.look();
  }

  const activity = looking(name, "/activity", (answer) => {
    told = answer;
    draw();
    if (again.checked && !told.measuring) measure();
  }, (problem) => say(state, problem.message));

  function heard(state) {
    controls.hidden = state.reader;
    activity.heard(state);
  }

  return { element, heard, close: activity.close };
}
