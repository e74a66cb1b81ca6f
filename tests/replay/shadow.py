"""A shadow for every session of this process: fed the same frames, it never plans. Whatever the session and
its shadow answer differently is a wrong plan.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from gradd._transports.local import _inline
from gradd_engine.tensor.nodes import node_of
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_runtime.process import FileOrder, InlinePlacement, answer, open_session
from gradd_runtime.session import Session

from tests.congruence.graphs import graph

MISMATCHES = 4  # of one session: the first tells most
COUNTS = ("planned", "eager", "traced")


@dataclass
class Twins:
    """A session that plans, its shadow, and where they disagreed."""

    planned: Session
    eager: Session
    frames: int = 0
    mismatches: list[str] = field(default_factory=list)
    counted: dict[str, int] = field(default_factory=dict)

    def run(self, frame: Any, real: Any) -> bytes:
        """Hand both the frame; the reply is the planning session's."""
        copy = bytearray(frame.map() if hasattr(frame, "map") else frame)
        expected = frames.join(answer(self.eager, copy))
        found: bytes = real()
        self.frames += 1
        if len(self.mismatches) < MISMATCHES and not _alike(expected, found):
            want, got = told(expected), told(found)
            self.mismatches.append(f"frame {self.frames}: planned answers {got!r}, unplanned {want!r}")
        return found

    def compare(self, deep: bool = False) -> None:
        """Note where what is left in the two differs: flags, values, gradients; if `deep`, graphs too, which
        makes those that nobody looked at yet.
        """
        if len(self.mismatches) >= MISMATCHES:
            return
        rows, other = list(self.planned.table.rows()), list(self.eager.table.rows())
        if rows != other:
            differ = [(a, b) for a, b in zip(rows, other, strict=False) if a != b]
            self.mismatches.append(f"the tables differ: {differ[:2] or (len(rows), len(other))}")
            return
        if self.planned.generator.step != self.eager.generator.step:
            self.mismatches.append("the random streams differ")
        for name, t in self.planned.table.ids.items():
            u = self.eager.table.ids[name]
            grads = [None if x._grad is None else bits(x._grad) for x in (t, u)]
            if bits(t) != bits(u):
                self.mismatches.append(f"{name} holds {t.array!r}, unplanned {u.array!r}")
            elif grads[0] != grads[1]:
                self.mismatches.append(f"{name}.grad holds {t._grad!r}, unplanned {u._grad!r}")
            elif deep and graph(node_of(t)) != graph(node_of(u)):
                self.mismatches.append(f"{name} has another graph")


def bits(t: Any) -> Any:
    """What must be the same of a tensor, to the bit."""
    return t.array.dtype, t.shape, t.strides, t.backend.to_numpy(t).tobytes()


def told(reply: bytes) -> Any:
    """A reply without how many bytes the session uses, since a plan may hold what it hands out a moment
    longer, and without what was measured.
    """
    message, buffers = frames.decode_reply(reply)
    if isinstance(message, (m.Attached, m.SessionReply)):
        message = msgspec.structs.replace(message, session=msgspec.structs.replace(message.session, bytes=0))
    if isinstance(message, m.Profiled):
        message = m.Profiled()
    return message, [(b.dtype, b.shape, b.tobytes()) for b in buffers]


def _alike(expected: bytes, found: bytes) -> bool:
    return bytes(expected) == bytes(found) or told(expected) == told(found)


class Shadows:
    """The twins of all sessions that are open, by name, and what was found with those that ended."""

    def __init__(self) -> None:
        self.twins: dict[str, Twins] = {}
        #: whether the first sighting of a program runs eagerly, as it does for users
        self.first_eager = True
        self.counts = dict.fromkeys(COUNTS, 0)
        #: frames that were given to twins
        self.frames = 0
        self._mismatches: list[str] = []

    def open(self, planned: Session, eager: Session) -> None:
        """A session was opened."""
        eager.plans.enabled = False
        planned.plans.first_eager = self.first_eager
        self.twins[planned.name] = Twins(planned, eager)

    def close(self, name: str) -> None:
        """A session ends."""
        if name in self.twins:
            self.settle()
            twin = self.twins.pop(name)
            twin.compare()
            self._take(twin)
            twin.eager.close()

    def drop(self, name: str) -> None:
        """A session begins at a file, which its shadow has not read."""
        twin = self.twins.pop(name)
        self._take(twin)
        twin.eager.close()

    def forget(self) -> None:
        """Sessions that were left open have no shadow any more."""
        self.settle()
        for twin in self.twins.values():
            self._take(twin)
        self.twins.clear()
        self._mismatches.clear()

    def settle(self) -> None:
        """Wait until all frames that were sent are answered."""
        _inline().submit("", b"").result()

    def take_counts(self) -> dict[str, int]:
        """How many batches were planned, eager and traced since the last call."""
        for twin in self.twins.values():
            self._take(twin)
        found, self.counts = self.counts, dict.fromkeys(COUNTS, 0)
        return found

    def mismatches(self) -> list[str]:
        """What was noted of all sessions since the last call."""
        for twin in self.twins.values():
            self._take(twin)
        found, self._mismatches = self._mismatches, []
        return found

    def _take(self, twin: Twins) -> None:
        counts = twin.planned.plans.counts
        for name in COUNTS:
            self.counts[name] += counts[name] - twin.counted.get(name, 0)
            twin.counted[name] = counts[name]
        self._mismatches += twin.mismatches
        twin.mismatches.clear()


@contextmanager
def shadowing() -> Iterator[Shadows]:
    """Give every session opened in this process a shadow."""
    shadows = Shadows()
    run, opened, closed = InlinePlacement._run, InlinePlacement.open, InlinePlacement.close

    def with_shadow(self: InlinePlacement, name: str, frame: Any) -> bytes:
        twin = shadows.twins.get(name)
        if twin is None:
            return run(self, name, frame)
        if isinstance(frame, FileOrder):
            if not frame.save:
                shadows.drop(name)
            return run(self, name, frame)
        shadows.frames += 1
        return twin.run(frame, lambda: run(self, name, frame))

    def open_both(self: InlinePlacement, name: str, options: Any) -> None:
        there = name in self._sessions
        opened(self, name, options)
        if not there:
            session = self._sessions[name].session
            # A later session of a name begins at another epoch.
            alike = {**options, "epoch": session.writers.epoch}
            shadows.open(session, open_session(name, alike, self._backend))

    def close_both(self: InlinePlacement, name: str) -> None:
        if name in self._sessions:
            shadows.close(name)
        closed(self, name)

    # Collections, which the end of a session may ask for, need not look through what is loaded.
    gc.collect()
    gc.freeze()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(InlinePlacement, "_run", with_shadow)
        patch.setattr(InlinePlacement, "open", open_both)
        patch.setattr(InlinePlacement, "close", close_both)
        yield shadows
    gc.unfreeze()
