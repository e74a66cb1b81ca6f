// The page: which view is shown, the key, and the live state that all views hear.

import { Problem, hasKey, listen, takeKey, useKey } from "./api.js";
import { duration, h, say } from "./dom.js";
import { overview } from "./overview.js";

const main = document.getElementById("content");
const state = document.getElementById("state");
const daemon = document.getElementById("daemon");
const leave = document.getElementById("leave");

const AGAIN = 2000; // ms until a lost daemon is asked again

let view = null;
let latest = null;
let listening = null;

function tell(text, kind) {
  say(state, text);
  state.className = kind;
}

// A session's page is fetched when it is first wanted.
const comes = { heard() {}, close() {} };

async function show(focus) {
  const wanted = location.hash;
  const [, kind, part, tab] = wanted.split("/");
  // A share has one session.
  const [only] = latest?.role === "reader" ? latest.sessions : [];
  const name = only?.name ?? (kind === "session" && part ? decodeURIComponent(part) : "");
  view?.close();
  if (name) {
    view = comes;
    const { sessionView } = await import("./session.js");
    if (location.hash !== wanted || view !== comes) return;
    view = sessionView(name, tab);
  } else {
    view = overview();
  }
  main.replaceChildren(view.element);
  document.title = name ? `${name} – gradd` : "gradd";
  if (latest) view.heard(latest);
  if (focus) main.querySelector("h1")?.focus();
}

function askForKey(why) {
  view?.close();
  view = null;
  latest = null;
  leave.hidden = true;
  const input = h("input", { id: "key", type: "password", autocomplete: "off", required: true, size: 50 });
  const form = h("form", {
    onsubmit(event) {
      event.preventDefault();
      useKey(input.value.trim());
      begin();
    },
  }, h("label", { for: "key" }, "API key"), input, h("button", { class: "main" }, "Show"));
  main.replaceChildren(h("h1", { tabindex: -1 }, "A key, please"),
    h("p", {}, "This daemon answers those who have an API key. On its machine, ",
      h("code", {}, "gradd keys local"), " prints one; it stays in this tab."),
    why ? h("p", { class: "bad", role: "alert" }, why) : null, form);
  input.focus();
}

function heard(told) {
  latest = told;
  say(daemon, `${told.version}, up ${duration(told.uptime_seconds)}`);
  tell(told.ready ? "live" : "shutting down", told.ready ? "good" : "bad");
  if (!view) {
    leave.hidden = !hasKey();
    show(false);
  } else {
    view.heard(told);
  }
}

async function begin() {
  listening?.abort();
  const own = (listening = new AbortController());
  while (!own.signal.aborted) {
    try {
      await listen("v1/live", own.signal, heard);
    } catch (error) {
      if (own.signal.aborted) return;
      if (error instanceof Problem && error.status === 401) {
        const tried = hasKey();
        useKey(null);
        tell("", "");
        askForKey(tried ? error.message : "");
        return;
      }
    }
    if (own.signal.aborted) return;
    tell("the daemon does not answer", "bad");
    await new Promise((again) => setTimeout(again, AGAIN));
  }
}

leave.addEventListener("click", () => {
  listening?.abort();
  useKey(null);
  begin();
});
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#key=")) {
    takeKey();
    view?.close();
    view = null; // another key may show other things
    begin();
  } else if (view && location.hash.startsWith("#/")) show(true);
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) listening?.abort();
  else if (listening?.signal.aborted) begin();
});
takeKey();
begin();
