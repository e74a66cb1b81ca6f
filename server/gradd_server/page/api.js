// What the page asks of the daemon. The key is in the Authorization header alone: it comes out of the URL's
// fragment, which no server sees, or is typed in, and stays in this tab.

const STORED = "gradd-key";
const base = new URL(".", document.baseURI);

let key = null;

export class Problem extends Error {
  constructor(status, said) {
    super(said?.detail || said?.title || `the daemon answered ${status}`);
    this.status = status;
    this.slug = said?.type?.split("/").pop() ?? "";
  }
}

export function takeKey() {
  const found = /^#key=([^&]+)$/.exec(location.hash);
  if (found) {
    useKey(decodeURIComponent(found[1]));
    history.replaceState(null, "", `${location.pathname}${location.search}#/`);
  } else {
    key = sessionStorage.getItem(STORED);
  }
}

export function useKey(text) {
  key = text || null;
  if (key) sessionStorage.setItem(STORED, key);
  else sessionStorage.removeItem(STORED);
}

export const hasKey = () => key !== null;

export async function ask(path, { method = "GET", body, accept = "application/json", signal } = {}) {
  const headers = { Accept: accept };
  if (key) headers.Authorization = `Bearer ${key}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(new URL(path, base), {
    method, headers, signal, cache: "no-store", credentials: "omit",
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (response.ok) return response;
  throw new Problem(response.status, await response.json().catch(() => null));
}

export async function get(path, options) {
  return (await ask(path, options)).json();
}

export async function post(path, body) {
  const response = await ask(path, { method: "POST", body });
  return response.status === 204 ? null : response.json();
}

export const pageLink = (token) => new URL(`#key=${token}`, base).href;

export const sessionPath = (name, rest = "") => `v1/sessions/${encodeURIComponent(name)}${rest}`;

// Server-sent events: `heard` gets the data of each. Returns when the daemon ends them.
export async function listen(path, signal, heard) {
  const response = await ask(path, { accept: "text/event-stream", signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const data = part.split("\n").filter((line) => line.startsWith("data: "));
      if (data.length) heard(JSON.parse(data.map((line) => line.slice(6)).join("\n")));
    }
  }
}
