"""A profile as one timeline over client, wire, front, engine and kernels, in Trace Event Format.

Source: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

from __future__ import annotations

import gzip
import json
import linecache
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradd_protocol.version import VERSION

from .._exceptions import line_of

if TYPE_CHECKING:
    from gradd_protocol.messages import Profiled
    from gradd_protocol.profiles import BatchTime, FrontTime

    from .trips import Trip, TripLog
    from .waits import Waits

Event = dict[str, Any]
#: rows, from the top
ROWS = ("client", "wire", "front", "engine", "kernels")
CLIENT, WIRE, FRONT, ENGINE, KERNELS = range(1, 6)


@dataclass(frozen=True, slots=True)
class MarkedRange:
    """A range of a script: its thread, and seconds of `perf_counter`."""

    name: str
    thread: int
    began: float
    ended: float


class Timeline:
    """The events of a profile that began at `began` (s of this process), of the batches of `writer`."""

    def __init__(self, began: float, writer: int) -> None:
        self._began, self._writer = began, writer
        #: threads of the script, in the order in which they are met
        self._threads: dict[int, int] = {}

    def events(
        self, report: Profiled, log: TripLog, waits: Waits, ranges: Iterable[MarkedRange]
    ) -> list[Event]:  # fmt: skip
        """All events, those that name rows first."""
        trips = {trip.position: (seq, trip) for seq, trip in log.trips.items() if trip.position}
        front = {f.seq: f for f in report.front if f.writer == self._writer}
        ours = [(b, trips.get(b.position)) for b in report.batches]
        # What is told of a batch that others sent has no place in this client's time but by the same shift.
        shift = self.shift(report, log)
        found: list[Event] = []
        for batch, sent in ours:
            seq, trip = sent or (0, None)
            found += self._batch(batch, seq, trip, front.get(seq), shift)
        found += [
            self._whole(KERNELS, 1, call.name, call.began + shift, call.seconds) for call in report.calls
        ]
        found += self._script(waits, ranges)
        used = {event["pid"] for event in found}
        return [*self._named(used), *sorted(found, key=lambda e: (e["ts"], -e.get("dur", 0.0)))]

    def shift(self, report: Profiled, log: TripLog) -> float:
        """What is to be added to the daemon's clock for this process's (s)."""
        front = {f.seq: f for f in report.front if f.writer == self._writer}
        answered = [(seq, trip) for seq, trip in log.trips.items() if trip.position]
        return _shift([(f.came, f.answered, trip) for seq, trip in answered if (f := front.get(seq))])

    # -- rows --------------------------------------------------------------------------------------

    def _named(self, used: set[int]) -> Iterator[Event]:
        for pid, name in enumerate(ROWS, 1):
            if pid in used:
                yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
                order = {"sort_index": pid}
                yield {"ph": "M", "name": "process_sort_index", "pid": pid, "tid": 0, "args": order}
                threads = self._threads.values() if pid == CLIENT else (1,)
                for tid in threads:
                    said = f"thread {tid}" if pid == CLIENT else name
                    yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": said}}

    def _batch(
        self, batch: BatchTime, seq: int, trip: Trip | None, front: FrontTime | None, shift: float
    ) -> Iterator[Event]:  # fmt: skip
        """A batch on its way, there and back."""
        id = batch.position
        came, began = batch.came + shift, batch.began + shift
        facts = {"position": id, "program": batch.program, "steps": batch.steps, "how": batch.how}
        facts |= {"why": batch.why} if batch.why else {}
        yield self._whole(ENGINE, 1, f"{batch.how}: {batch.steps} steps", began, batch.seconds, facts)
        yield from self._span(ENGINE, "queue", "waits", id, came, began)
        if trip is None:
            return
        tid = self._tid(trip.thread)
        sent = {"batch": f"{self._writer}.{seq}", "bytes": trip.nbytes}
        yield self._whole(CLIENT, tid, f"send batch {id}", trip.began, trip.left - trip.began, sent)
        flow = {"cat": "batch", "name": "batch", "id": id}
        yield {"ph": "s", "pid": CLIENT, "tid": tid, "ts": self._ts(trip.began), **flow}
        yield {"ph": "f", "bp": "e", "pid": ENGINE, "tid": 1, "ts": self._ts(began), **flow}
        if front is None:
            return
        there, submitted, back = (moment + shift for moment in (front.came, front.submitted, front.answered))
        yield from self._span(WIRE, "wire", "there", id, trip.began, there, {"bytes": trip.nbytes})
        yield from self._span(WIRE, "wire", "back", id, back, trip.came, {"bytes": trip.reply_nbytes})
        begin, end = self._span(FRONT, "front", "batch", id, there, back, {"batch": sent["batch"]})
        yield from (begin, *self._span(FRONT, "front", "with the engine", id, submitted, back), end)

    def _script(self, waits: Waits, ranges: Iterable[MarkedRange]) -> Iterator[Event]:
        for thread, site, began, ended, answered in waits.each:
            if answered:
                file, line = line_of(site)
                facts = {"file": file, "line": line, "code": linecache.getline(file, line).strip()}
                name = f"waits in {Path(file).name}:{line}"
                yield self._whole(CLIENT, self._tid(thread), name, began, ended - began, facts)
        for r in ranges:
            tid = self._tid(r.thread)
            yield self._whole(CLIENT, tid, r.name, r.began, r.ended - r.began, cat="user_annotation")

    # -- events ------------------------------------------------------------------------------------

    def _ts(self, moment: float) -> float:
        """Microseconds since the profile began; 0 for what began before it."""
        return round(max(0.0, 1e6 * (moment - self._began)), 3)

    def _tid(self, thread: int) -> int:
        return self._threads.setdefault(thread, len(self._threads) + 1)

    def _whole(
        self, pid: int, tid: int, name: str, began: float, seconds: float, args: Event | None = None,
        cat: str = "",
    ) -> Event:  # fmt: skip
        ts = self._ts(began)
        dur = round(max(0.0, self._ts(began + seconds) - ts), 3)
        made = {
            "ph": "X",
            "cat": cat or ROWS[pid - 1],
            "name": name,
            "pid": pid,
            "tid": tid,
            "ts": ts,
            "dur": dur,
        }
        return made | ({"args": args} if args else {})

    def _span(
        self, pid: int, cat: str, name: str, id: int, began: float, ended: float, args: Event | None = None
    ) -> Iterator[Event]:  # fmt: skip
        """A span of a batch, that of others of its row may overlap. Names tell the batch nowhere: Perfetto
        shows those of one name in one row, and in its process only those whose ids are of that alone.
        """
        ts = self._ts(began)
        both = {"cat": cat, "name": name, "id2": {"local": hex(id)}, "pid": pid, "tid": 1}
        yield {"ph": "b", "ts": ts, **both, "args": {"position": id, **(args or {})}}
        yield {"ph": "e", "ts": max(ts, self._ts(ended)), **both}


def _shift(seen: list[tuple[float, float, Trip]]) -> float:
    """What is to be added to the daemon's clock for this process's: so that each batch came after it was sent
    and was answered before its reply was taken; 0 where that is so, as on one machine.
    """
    if not seen:
        return 0.0
    least = max(trip.began - came for came, _, trip in seen)
    most = min(trip.came - answered for _, answered, trip in seen)
    if least <= 0.0 <= most:
        return 0.0
    return (least + most) / 2


def write(path: str | os.PathLike[str], events: list[Event], metadata: Mapping[str, Any]) -> None:
    """Write a file of these events; `metadata` are more members of it."""
    said = {
        **metadata,
        "schemaVersion": 1,
        "displayTimeUnit": "ms",
        "otherData": {"gradd": VERSION},
        "traceEvents": events,
    }
    text = json.dumps(said).encode()
    Path(path).write_bytes(gzip.compress(text) if os.fspath(path).endswith(".gz") else text)
