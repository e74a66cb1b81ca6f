// Links that show a session to others, who can change nothing: made, copied, listed, revoked.

import { ask, get, pageLink, post, sessionPath } from "./api.js";
import { h, liveTable, say } from "./dom.js";

const WEEK = 168, MOST = 8784; // hours

const moment = (seconds) => new Date(1000 * seconds).toLocaleString();

export function shareBox(name) {
  const hours = h("input", {
    id: "share-hours", type: "number", min: 1, max: MOST, value: WEEK, required: true, autocomplete: "off",
  });
  const form = h("form", {
    onsubmit(event) {
      event.preventDefault();
      make();
    },
  }, h("label", { for: "share-hours" }, "for hours"), hours, h("button", { class: "main" }, "Make a link"));
  const link = h("input", { id: "share-link", readonly: true, size: 60, onfocus: () => link.select() });
  const copy = h("button", { type: "button", onclick: () => copied() }, "Copy");
  const made = h("div", { class: "controls", hidden: true }, h("label", { for: "share-link" }, "link"), link, copy);
  const state = h("p", { role: "status" });
  const shares = liveTable("Shares", [
    ["share", (s) => s.id], ["made", (s) => moment(s.created), "start"], ["ends", (s) => moment(s.expires), "start"],
    ["end it", (s) => h("button", { type: "button", onclick: () => revoke(s.id) }, `Revoke ${s.id}`)],
  ], "The session is shared with nobody.");
  const element = h("details", { ontoggle: () => element.open && list() }, h("summary", {}, "Share"),
    h("p", {}, "Who has the link sees this session, reads its curves, graphs and values, and changes nothing."),
    form, made, state, shares.box);

  // Whatever goes wrong is said where all is said.
  async function told(work) {
    try {
      await work();
    } catch (problem) {
      say(state, problem.message);
    }
  }

  const list = () => told(async () => {
    const found = await get(sessionPath(name, "/shares"));
    shares.update(found.shares.map((share) => [share.id, share]));
  });

  const make = () => told(async () => {
    const { token } = await post(sessionPath(name, "/shares"), { hours: Number(hours.value) });
    link.value = pageLink(token);
    made.hidden = false;
    await copied();
    await list();
  });

  const revoke = (id) => told(async () => {
    await ask(sessionPath(name, `/shares/${id}`), { method: "DELETE" });
    say(state, `${id} opens nothing any more.`);
    await list();
  });

  async function copied() {
    try {
      await navigator.clipboard.writeText(link.value);
      say(state, "The link is copied. It is not shown again.");
    } catch {
      link.select(); // over plain http from elsewhere a page may not copy
      say(state, "Copy the link: it is not shown again.");
    }
  }

  return element;
}
