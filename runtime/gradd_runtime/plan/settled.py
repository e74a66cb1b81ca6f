"""A planned batch that left its inputs as they were: the next one like it needs no walk over them."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_engine.tensor import Node, Tensor
    from gradd_engine.tracing import InputSignature

    from ..batch import Work
    from .replay import Plan


class Inputs(NamedTuple):
    """Of an InputSignature, what a replay asks for."""

    tensors: Sequence[Tensor]
    nodes: Sequence[Node] = ()


class Settled:
    """What `plan` was replayed for. As long as nothing else happens to the session, the same program on the
    same tensors has the same key, whose making would cost more than a small replay.

    Inputs are held weakly: they die when they would.
    """

    __slots__ = ("_bound", "_inputs", "_order", "_wanted", "plan")

    def __init__(self, plan: Plan, work: Work, found: InputSignature) -> None:
        self.plan, self._bound = plan, work.bound
        self._inputs = [weakref.ref(t) for t in work.tensors]
        self._order = [found.inputs.index(i) for i in range(len(found.tensors))]
        self._wanted = _wanted(work)

    def again(self, work: Work) -> Inputs | None:
        """The inputs of `work` if it is the same, else None."""
        tensors = work.tensors
        if work.bound is not self._bound or work.uploads or self._wanted != _wanted(work):
            return None
        for known, t in zip(self._inputs, tensors, strict=True):
            if known() is not t:
                return None
        if self.plan.guards and not self.plan.fits(work.values):
            return None
        return Inputs([tensors[k] for k in self._order])


def _wanted(work: Work) -> tuple[Any, ...]:
    return [*work.keep], [*work.binds], work.fetch.copy()
