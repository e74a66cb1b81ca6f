"""Splits a batch that has reached its limit: earlier steps are sent, later ones begin a new batch."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from gradd_engine.data import Meta, float32
from gradd_protocol.program import UPLOAD

from .builder import Builder
from .steps import Grad, RuntimeSlot

if TYPE_CHECKING:
    from .._mirror import MirrorBackend


def phase(built: Builder) -> int | None:
    """The latest step with the op and call site of the first, or None."""
    first, site = built.steps[0].op, built.sites[0]
    at = range(len(built) - 1, 0, -1)
    return next((i for i in at if built.steps[i].op == first and built.sites[i] == site), None)


class Cut:
    """Splits `built` before step `at`; `built` keeps the earlier part."""

    def __init__(self, whole: Builder, at: int, backend: MirrorBackend) -> None:
        self._whole, self._at = whole, at
        self._base = base = whole.first_output(at)
        self._holders: list[Any] = [r() if r is not None else None for r in whole.outputs]
        values = sum(s.late() for s in whole.steps[:at])
        uploads = sum(s.op == UPLOAD for s in whole.steps[:at])
        self._values, self._uploads = whole.values[values:], whole.uploads[uploads:]
        head = self.built = Builder()
        head.began = whole.began
        head.steps, head.sites = whole.steps[:at], whole.sites[:at]
        head.outputs = whole.outputs[:base]
        head.values, head.uploads = whole.values[:values], whole.uploads[:uploads]
        self._take_inputs(head)
        #: outputs of the earlier steps that later ones read
        self._carried: dict[int, Any] = {}
        for s in sorted({s for step in whole.steps[at:] for s in _slots(step.args) if 0 <= s < base}):
            t = self._holders[s]
            if t is None:
                # Its tensor is dead, but a later step reads it.
                t = backend.empty(Meta((), float32))
                head.outputs[s] = weakref.ref(t)
            self._carried[s] = t

    def _take_inputs(self, head: Builder) -> None:
        """Remove inputs that only later steps read."""
        whole = self._whole
        used = {s for step in head.steps for s in _slots(step.args) if s < 0}
        kept = [j for j in range(len(whole.inputs)) if -(j + 1) in used]
        move = {-(j + 1): -(i + 1) for i, j in enumerate(kept)}
        head.steps = [s._replace(args=tuple(_renamed(a, move) for a in s.args)) for s in head.steps]
        head.inputs = [whole.inputs[j] for j in kept]
        head.tensors = [whole.tensors[j] for j in kept]
        head.slots = {name: -(i + 1) for i, name in enumerate(head.inputs)}

    def carry_over(self, rest: Builder) -> None:
        """Begin `rest` with the later steps; the outputs of the earlier ones, which were sent, have ids."""
        slots = {s: rest.input(t._id, t) for s, t in self._carried.items()}
        rest.begin(None)
        rest.values, rest.uploads = self._values, self._uploads
        whole, n = self._whole, self._base
        for step, site in zip(whole.steps[self._at :], whole.sites[self._at :], strict=True):
            args = tuple(self._moved(a, slots, rest) for a in step.args)
            first = rest.append(step._replace(args=args), site)
            for k in range(step.outputs):
                t = self._holders[n + k]
                if t is not None:
                    rest.outputs[first + k] = weakref.ref(t)
                    t._out = (rest, first + k)
            n += step.outputs
        rest.settled = len(rest.steps)

    def _moved(self, a: Any, slots: dict[int, int], rest: Builder) -> Any:
        if isinstance(a, (RuntimeSlot, type(None))):
            return a
        if isinstance(a, Grad):
            return Grad(self._moved(a.of, slots, rest))
        if isinstance(a, int):
            if a < 0:
                return rest.input(self._whole.inputs[-a - 1], self._whole.tensors[-a - 1])
            return slots[a] if a < self._base else a - self._base
        return tuple(self._moved(e, slots, rest) for e in a)


def _renamed(a: Any, move: dict[int, int]) -> Any:
    if isinstance(a, Grad):
        return Grad(move.get(a.of, a.of))
    if isinstance(a, (RuntimeSlot, type(None))):
        return a
    if isinstance(a, int):
        return move.get(a, a)
    return tuple(_renamed(e, move) for e in a)


def _slots(a: Any) -> list[int]:
    if isinstance(a, Grad):
        return [a.of]
    if isinstance(a, (RuntimeSlot, type(None))):
        return []
    if isinstance(a, int):
        return [a]
    return [s for e in a for s in _slots(e)]
