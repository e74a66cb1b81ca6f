// One session: what is known of it, and its tabs.

import { get, hasKey, sessionPath } from "./api.js";
import { batchesView } from "./batches.js";
import { bytes, duration, h, say, whole } from "./dom.js";
import { graphView } from "./graph.js";
import { lossesView } from "./losses.js";
import { memoryView } from "./memory.js";
import { shareBox } from "./share.js";

const TABS = [
  { id: "losses", title: "Losses", make: lossesView },
  { id: "graph", title: "Graph", make: graphView },
  { id: "memory", title: "Memory", make: memoryView },
  { id: "batches", title: "Batches", make: batchesView },
];

export function sessionView(name, wanted) {
  const facts = {};
  const list = h("dl", {}, [
    ["state", "state"], ["tensors", "tensors"], ["memory", "bytes"], ["batches", "batches"],
    ["steps", "steps"], ["clients", "clients"],
  ].map(([word, key]) => [h("dt", {}, word), (facts[key] = h("dd", {}, "–"))]));
  const gone = h("p", { class: "bad", role: "alert" });
  const tabs = TABS.map((tab) => h("button", {
    type: "button", role: "tab", id: `tab-${tab.id}`, "aria-controls": "panel", "aria-selected": "false",
    tabindex: -1, onclick: () => show(tab), onkeydown: moved,
  }, tab.title));
  const panel = h("div", { role: "tabpanel", id: "panel", tabindex: 0 });
  // What a share does not show: the other sessions, and shares.
  const others = h("p", { hidden: true }, h("a", { href: "#/" }, "All sessions"));
  const sharing = h("div");
  const element = h("div", {}, others, h("h1", { tabindex: -1 }, name), gone, list, sharing,
    TABS.length ? [h("div", { role: "tablist", "aria-label": `Parts of ${name}` }, tabs), panel] : []);
  let open = null;
  let awake = true;
  let reader = true; // until it is known

  function moved(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = (tabs.indexOf(event.currentTarget) + step + tabs.length) % tabs.length;
    show(TABS[at]);
    tabs[at].focus();
  }

  function show(tab) {
    open?.close();
    open = tab.make(name);
    tabs.forEach((button, at) => {
      const chosen = TABS[at] === tab;
      button.setAttribute("aria-selected", String(chosen));
      button.tabIndex = chosen ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", `tab-${tab.id}`);
    panel.replaceChildren(open.element);
    history.replaceState(null, "", `#/session/${encodeURIComponent(name)}/${tab.id}`);
    open.heard?.({ awake, reader });
  }

  function heard(state) {
    others.hidden = reader = state.role === "reader";
    if (!others.hidden && hasKey() && !sharing.firstChild) sharing.append(shareBox(name));
    const found = state.sessions.find((s) => s.tenant === state.tenant && s.name === name);
    say(gone, found ? "" : "There is no session of this name (any more).");
    if (!found) return;
    awake = found.counts !== undefined;
    say(facts.state, awake ? `awake, idle for ${duration(found.idle_seconds)}` : "asleep, or idle for long");
    say(facts.clients, whole(found.streams));
    if (awake) {
      say(facts.tensors, whole(found.tensors));
      say(facts.bytes, bytes(found.bytes));
      say(facts.batches, `${whole(found.counts.batches)} since its engine process has it, ` +
        `${whole(found.counts.planned)} planned, ${whole(found.counts.eager)} eager`);
      say(facts.steps, whole(found.counts.steps));
    }
    open?.heard?.({ awake, reader, found });
  }

  get(sessionPath(name)).then((info) => {
    say(facts.tensors, whole(info.tensors));
    say(facts.bytes, bytes(info.bytes));
    say(facts.steps, whole(info.steps));
  }, (problem) => say(gone, problem.message));
  if (TABS.length) show(TABS.find((tab) => tab.id === wanted) ?? TABS[0]);
  return { element, heard, close: () => open?.close() };
}
