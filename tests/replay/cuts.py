"""Seeded cuts: while a body runs, its recording is sent at random points, some with values asked for. The
points are counted in recorded steps, so they are the same in each repetition.
"""

from __future__ import annotations

import random
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from gradd._mirror import StepState
from gradd._recording import Recorder
from gradd._session import Session
from gradd_engine.tensor.tensor import Tensor

#: how likely a cut is after each step: one of these for a body
OFTEN = (0.04, 0.12, 0.25, 0.5)
#: of cuts, those that bring values back
READS = 0.5
#: cuts of one repetition at most: a long chain of nodes is walked at each
MOST = 100
#: results that may be asked for later
REMEMBERED = 8


class Cuts:
    """Cuts what the sessions of this process record, from `begin` to `end`."""

    def __init__(self) -> None:
        self.active = False
        self.steps = self.cut = self.read = 0
        #: where this repetition was cut, in steps since its start, and what was asked for there
        self.points: list[str] = []
        self._recent: list[weakref.ref[Any]] = []
        self._rng = random.Random()
        self._often = 0.0

    def begin(self, seed: str) -> None:
        """A repetition begins: the same seed gives the same points."""
        self._rng.seed(seed)
        self._often = self._rng.choice(OFTEN)
        self.steps = 0
        self.points.clear()
        self._recent.clear()
        self.active = True

    def end(self) -> None:
        """No more cuts."""
        self.active = False
        self._recent.clear()

    def step(self, session: Session, outputs: Any) -> None:
        """A step was recorded: perhaps cut behind it."""
        self.steps += 1
        for t in outputs if isinstance(outputs, (tuple, list)) else (outputs,):
            if isinstance(t, Tensor):
                self._recent.append(weakref.ref(t))
        del self._recent[:-REMEMBERED]
        draw, reads, which = self._rng.random(), self._rng.random(), self._rng.random()
        recorder = session.recorder()
        if draw >= self._often or len(self.points) >= MOST:
            return
        if recorder.tape is not None or recorder.step is not StepState.NONE:
            return
        fetch = []
        if reads < READS and self._recent:
            t = self._recent[int(which * len(self._recent))]()
            if t is not None and t._out is not None and t._out[0] is recorder.building and t._lost is None:
                fetch.append(t)
                self.read += 1
        self.cut += 1
        self.points.append(f"{self.steps}{'r' if fetch else ''}")
        recorder.flush(fetch)


@contextmanager
def cutting() -> Iterator[Cuts]:
    """Let a `Cuts` see every step that is recorded in this process."""
    cuts = Cuts()
    record, upload = Session.record, Recorder.upload

    def seen(self: Session, op: Any, inputs: Any, attrs: Any, outputs: Any) -> Any:
        found = record(self, op, inputs, attrs, outputs)
        if cuts.active:
            cuts.step(self, found)
        return found

    def uploaded(self: Recorder, t: Any, data: Any, requires_grad: bool) -> None:
        upload(self, t, data, requires_grad)
        if cuts.active:
            with self.session.lock:
                cuts.step(self.session, t)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Session, "record", seen)
        patch.setattr(Recorder, "upload", uploaded)
        yield cuts
