"""A planned batch that left its inputs as they were: the next one like it needs no walk over them."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_engine.tensor import Node, Tensor
    from gradd_engine.tracing import InputSignature

    from ..batch import Work
    from .replay import Plan


class Inputs(msgspec.Struct, eq=False):
    """Of an InputSignature, what a replay asks for."""

    tensors: Sequence[Tensor]
    nodes: Sequence[Node] = ()


class Settled:
    """What `plan` was replayed for. As long as nothing else happens to the session, the same program on the
    same tensors has the same key, whose making would cost more than a small replay.

    Inputs are held weakly: they die when they would.
    """

    __slots__ = ("_binds", "_bound", "_fetch", "_inputs", "_keep", "_order", "plan")

    def __init__(self, plan: Plan, work: Work, found: InputSignature) -> None:
        self.plan, self._bound = plan, work.bound
        self._inputs = [weakref.ref(t) for t in work.tensors]
        order = [found.inputs.index(i) for i in range(len(found.tensors))]
        #: None where it is that of the batch
        self._order = None if order == [*range(len(work.tensors))] else order
        self._keep, self._binds, self._fetch = [*work.keep], [*work.binds], work.fetch

    def again(self, work: Work) -> Inputs | None:
        """The inputs of `work` if it is the same, else None."""
        tensors = work.tensors
        if work.bound is not self._bound or work.uploads:
            return None
        if [*work.keep] != self._keep or [*work.binds] != self._binds or work.fetch != self._fetch:
            return None
        for known, t in zip(self._inputs, tensors, strict=True):
            if known() is not t:
                return None
        if self.plan.guards and not self.plan.fits(work.values):
            return None
        return Inputs(tensors if self._order is None else [tensors[k] for k in self._order])
