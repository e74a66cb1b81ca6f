// A profile as spans of time in rows, for the flame chart and its table.

import { duration } from "./dom.js";

export const ROWS = ["record", "front", "queue", "engine", "kernels"];
const KERNEL_COLOURS = [3, 4, 5, 6];
const LANES = 3; // of a row whose spans overlap

const colourOf = (name) => KERNEL_COLOURS[[...name].reduce((sum, c) => sum + c.charCodeAt(0), 0) % KERNEL_COLOURS.length];

// Puts spans that overlap into lanes, as far as there are lanes.
function inLanes(spans) {
  const ends = [];
  for (const span of spans.sort((a, b) => a.began - b.began)) {
    const free = ends.findIndex((end) => end <= span.began);
    span.lane = free >= 0 ? free : Math.min(ends.length, LANES - 1);
    ends[span.lane] = Math.max(ends[span.lane] ?? 0, span.ended);
  }
  return spans;
}

// Each batch with its time in the front (beside that in queue and engine), its kernels, and how long there was
// nothing of the session here before it.
export function batchesOf(profile) {
  const fronts = new Map(profile.front.map((f) => [`${f.writer}.${f.seq}`, f]));
  let away = null;
  let next = 0;
  return profile.batches.map((batch) => {
    const front = fronts.get(`${batch.writer}.${batch.seq}`);
    const ended = batch.began + batch.seconds;
    const calls = [];
    while (next < profile.calls.length && profile.calls[next][1] < batch.began) next += 1;
    while (next < profile.calls.length && profile.calls[next][1] < ended) calls.push(profile.calls[next++]);
    const elsewhere = front && away !== null ? Math.max(0, front.came - away) : undefined;
    away = front ? Math.max(away ?? 0, front.answered) : null;
    const inFront = front && Math.max(0, front.answered - front.came - batch.waited - batch.seconds);
    return { ...batch, front, inFront, ended, calls, elsewhere };
  });
}

export function rowsOf(batches) {
  const said = (b) => `batch ${b.position}`;
  const each = (make) => batches.flatMap(make);
  const rows = {
    record: inLanes(each((b) => (b.recording ? [{
      name: said(b), began: (b.front?.came ?? b.came) - b.recording, ended: b.front?.came ?? b.came, colour: 7,
      facts: [["of", `writer ${b.writer}, until it was sent: the way here is not drawn`]],
    }] : []))),
    front: inLanes(each((b) => (b.front ? [{
      name: said(b), began: b.front.came, ended: b.front.answered, colour: 0,
      facts: [["received, read", duration(b.front.submitted - b.front.came)],
        ["with the engine process", duration(b.front.answered - b.front.submitted)]],
    }] : []))),
    queue: inLanes(each((b) => (b.waited > 0 ? [{
      name: said(b), began: b.began - b.waited, ended: b.began, colour: 8, facts: [],
    }] : []))),
    engine: inLanes(each((b) => [{
      name: `${b.how}: ${b.steps} steps`, began: b.began, ended: b.ended, colour: b.how === "planned" ? 2 : 1,
      facts: [["batch", `${b.position}, number ${b.seq ?? 0} of writer ${b.writer ?? 0}`], ["program", b.program],
        ...(b.why ? [["not planned because", b.why]] : [])],
    }])),
    kernels: inLanes(each((b) => b.calls.map(([name, began, seconds]) => ({
      name, began, ended: began + seconds, colour: colourOf(name), facts: [["in", said(b)]],
    })))),
  };
  return ROWS.map((row) => ({ row, spans: rows[row], lanes: Math.max(1, ...rows[row].map((s) => s.lane + 1)) }));
}
