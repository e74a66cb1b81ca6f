// All sessions, tenants and engine processes, as they are now.

import { bytes, duration, h, liveTable, whole } from "./dom.js";

const share = (counts) => {
  const ran = (counts?.planned ?? 0) + (counts?.eager ?? 0);
  return ran ? `${Math.round((100 * counts.planned) / ran)} %` : "–";
};

export function rateOf(count, last, seconds) {
  return last === undefined || count === undefined || count < last || seconds <= 0
    ? "–" : ((count - last) / seconds).toFixed(1);
}

export function overview() {
  let mine = "";
  const name = (s) => (s.tenant === mine
    ? h("a", { href: `#/session/${encodeURIComponent(s.name)}` }, s.name) : h("span", {}, s.name));
  const sessions = liveTable("Sessions", [
    ["session", name], ["tenant", (s) => s.tenant, "start"], ["clients", (s) => whole(s.streams)],
    ["idle", (s) => duration(s.idle_seconds)], ["tensors", (s) => whole(s.tensors)],
    ["memory", (s) => bytes(s.bytes)], ["batches", (s) => whole(s.counts?.batches)],
    ["batches/s", (s) => s.rate], ["steps", (s) => whole(s.counts?.steps)],
    ["planned", (s) => share(s.counts)],
  ], "No session is open. gradd.connect() opens one.");
  const tenants = liveTable("Tenants", [
    ["tenant", (t) => t.tenant], ["sessions", (t) => whole(t.sessions)], ["memory", (t) => bytes(t.bytes)],
    ["batches", (t) => whole(t.batches)], ["batches/s", (t) => t.rate],
    ["engine time", (t) => duration(t.seconds)],
  ], "No tenant has computed anything yet.");
  const engines = liveTable("Engine processes", [
    ["process", (e) => String(e.pid)],
    ["state", (e) => (e.answers ? "ready" : e.up ? "computing" : "silent"), "start"],
    ["sessions", (e) => whole(Object.values(e.sessions).reduce((a, b) => a + b, 0))],
    ["in RAM", (e) => bytes(e.resident_bytes)], ["tensors", (e) => whole(e.tensors)],
    ["of tensors", (e) => bytes(e.bytes)], ["queue", (e) => whole(e.waiting)],
    ["batches", (e) => whole(e.counts.batches)], ["planned", (e) => share(e.counts)],
  ], "Nothing is told of engine processes.");
  const more = h("p", { class: "quiet", hidden: true });
  const engineBox = h("section", { hidden: true }, engines.box);
  const element = h("div", {}, h("h1", { tabindex: -1 }, "Sessions"), sessions.box, more,
    h("section", {}, tenants.box), engineBox);
  let before = null;

  function heard(state) {
    mine = state.tenant;
    const seconds = before ? state.uptime_seconds - before.uptime : 0;
    const rated = (key, count) => rateOf(count, before?.counts.get(key), seconds);
    const counts = new Map();
    for (const s of state.sessions) {
      const key = `${s.tenant}/${s.name}`;
      s.rate = rated(key, s.counts?.batches);
      if (s.counts) counts.set(key, s.counts.batches);
    }
    for (const t of state.tenants) {
      t.rate = rated(t.tenant, t.batches);
      counts.set(t.tenant, t.batches);
    }
    sessions.update(state.sessions.map((s) => [`${s.tenant}/${s.name}`, s]));
    tenants.update(state.tenants.map((t) => [t.tenant, t]));
    engines.update(state.engines.map((e) => [e.pid, e]));
    engineBox.hidden = state.role !== "operator";
    more.hidden = !state.more;
    more.textContent = `and ${whole(state.more)} more: GET /v1/sessions lists all`;
    before = { uptime: state.uptime_seconds, counts };
  }

  return { element, heard, close() {} };
}
