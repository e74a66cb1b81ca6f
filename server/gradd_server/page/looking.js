// What a tab asks of its session: when it is opened, then whenever the session has computed.

import { get, sessionPath } from "./api.js";

const EVERY = 2000; // ms between two looks

// `shown` gets each answer, `failed` each error. A session that sleeps is asked once.
export function looking(name, path, shown, failed) {
  let told = false;
  let asking = false;
  let closed = false;
  let seen = null;
  let last = -EVERY;

  async function look() {
    if (asking || closed) return;
    asking = true;
    last = performance.now();
    let answer = null;
    try {
      answer = await get(sessionPath(name, path));
    } catch (problem) {
      seen = null;
      failed(problem);
      return;
    } finally {
      asking = false;
    }
    if (closed) return;
    told = true;
    shown(answer);
  }

  function heard({ found }) {
    const batches = found?.counts?.batches;
    if (told && (batches === undefined || batches === seen)) return;
    if (asking || performance.now() - last < EVERY) return;
    seen = batches;
    look();
  }

  return { look, heard, close: () => { closed = true; } };
}
