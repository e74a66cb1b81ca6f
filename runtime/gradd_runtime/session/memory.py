"""What holds a session's memory, and its course from batch to batch.

Only what is shown to people depends on it. A batch that is not noted costs a comparison; what holds memory
is looked at while somebody watches, for a bounded share of the time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any

import msgspec
from gradd_engine.memory_map import MemoryMap
from gradd_protocol import frames
from gradd_protocol import messages as m

if TYPE_CHECKING:
    from .state import SessionState

#: points of a course; at so many, every second one is dropped, and of those to come
MOST_POINTS = 256
#: batches from one point to the next at first, of what is noted of every session
APART = 16
#: seconds for which a session is watched after somebody asked
WATCHED_SECONDS = 10.0
#: a look may take one part in so many of the time: after a batch, and for those who ask
SHARE, ASKED = 50, 4
#: layers of a point, and of a course
POINT_LAYERS, LAYERS = 24, 8
#: blocks that are told of
BLOCKS = 100

Layer = tuple[str, str]
"""Kind and label."""


@dataclass(slots=True)
class MemoryPoint:
    """All that was held after so many batches, at a moment of `perf_counter`; if looked at, by layers."""

    batches: int
    moment: float
    nbytes: int
    layers: dict[Layer, int] = field(default_factory=dict)


class MemoryCourse:
    """Points that are at least `every` batches apart, which grows with their number."""

    def __init__(self, every: int) -> None:
        self.every = self.next = every
        self.points: list[MemoryPoint] = []

    def add(self, point: MemoryPoint) -> None:
        """Another point, later than all."""
        self.points.append(point)
        if len(self.points) >= MOST_POINTS:
            self.points = self.points[::2]
            self.every *= 2
        self.next = point.batches + self.every

    def told(self, latest: MemoryPoint) -> dict[str, Any]:
        """As JSON has it, with the point that is of now."""
        points = [p for p in self.points if p.batches < latest.batches] + [latest]
        area: dict[Layer, int] = {}
        for point in points:
            for layer, nbytes in point.layers.items():
                area[layer] = area.get(layer, 0) + nbytes
        largest = sorted(area, key=lambda layer: -area[layer])[:LAYERS]
        return {
            "every": self.every,
            "batches": [p.batches for p in points],
            "seconds_ago": [round(latest.moment - p.moment, 3) for p in points],
            "bytes": [p.nbytes for p in points],
            "layers": [
                {"kind": kind, "label": label, "bytes": [p.layers.get((kind, label), 0) for p in points]}
                for kind, label in largest
            ],
        }


class MemoryHistory:
    """The courses of a session: of all its batches, what they left; while it is watched, also by layers."""

    def __init__(self) -> None:
        #: at so many batches `note` has something to do
        self.due = APART
        self._whole, self._watched = MemoryCourse(APART), MemoryCourse(1)
        #: until when it is watched, not looked at again, and the last answer is given to all who ask
        self._until = self._rests = self._again = 0.0
        self._answer = b""

    def note(self, session: SessionState, now: float) -> None:
        """A batch ended at `now`, of `perf_counter`."""
        batches, whole = session.counts["batches"], session.account.whole
        if batches >= self._whole.next:
            self._whole.add(MemoryPoint(batches, now, whole))
        self.due = self._whole.next
        if now < self._until:
            if batches >= self._watched.next and now >= self._rests:
                began = perf_counter()
                layers = _layers(_looked_at(session), _beside(session, whole))
                self._rests = now + SHARE * (perf_counter() - began)
                self._watched.add(MemoryPoint(batches, now, whole, layers))
            self.due = min(self.due, self._watched.next)

    def answer(self, session: SessionState) -> tuple[m.JsonReply, list[Any]]:
        """The reply to GetMemory."""
        now, batches, whole = perf_counter(), session.counts["batches"], session.account.whole
        if now >= self._until:
            self._watched = MemoryCourse(1)
            self._watched.next = batches + 1
        self._until, self.due = now + WATCHED_SECONDS, batches
        if now < self._again:
            return m.JsonReply(), [frames.text_buffer(self._answer)]
        began = thread_time()
        found, beside, used = _looked_at(session), _beside(session, whole), session.account.used
        latest = MemoryPoint(batches, now, whole, _layers(found, beside))
        blocks = found.blocks
        said = {
            "bytes": used,
            "limit": session.account.limit,
            "beside": beside,
            "blocks": blocks[:BLOCKS],
            "more_blocks": max(0, len(blocks) - BLOCKS),
            "untold": max(0, used - sum(block.bytes for block in blocks)),
            "truncated": found.truncated,
            "whole": self._whole.told(MemoryPoint(batches, now, whole)),
            "watched": self._watched.told(latest),
        }
        self._answer = msgspec.json.encode(said)
        self._again = perf_counter() + ASKED * (thread_time() - began)
        return m.JsonReply(), [frames.text_buffer(self._answer)]


def _looked_at(session: SessionState) -> MemoryMap:
    table = session.table
    found = MemoryMap([*table.named.items(), *table.ids.items()])
    for key, storage in session.pins.shared.items():
        a = storage.array
        found.hold(storage, f"result {key}", "result", a.shape, a.dtype.name, f"result {key}, to be read")
    return found


def _beside(session: SessionState, whole: int) -> dict[str, int]:
    """Bytes of what is not elements of tensors, of the `whole`. That is read before, since to an account each
    reference to it is a tensor, `account` below as well.
    """
    account, plans = session.account, session.plans.counts["bytes"]
    results, uploads = session.pins.bytes, session.staged.bytes
    return {
        "objects": max(0, whole - account.used - account.other),
        "plans": plans,
        "results": results,
        "uploads": uploads,
        "rest": max(0, account.other - plans - results - uploads),
    }


def _layers(found: MemoryMap, beside: dict[str, int]) -> dict[Layer, int]:
    """The largest layers: blocks of one kind and label together, and what is beside them."""
    sums: dict[Layer, int] = {("beside", what): nbytes for what, nbytes in beside.items() if nbytes}
    for block in found.blocks:
        layer = block.kind, block.label
        sums[layer] = sums.get(layer, 0) + block.bytes
    return dict(sorted(sums.items(), key=lambda item: -item[1])[:POINT_LAYERS])
