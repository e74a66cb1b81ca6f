"""Commit a replay: leave the tensors, gradients, versions and graphs that an eager run would have left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ..tensor import next_priority
from .graphs import ReplayedGraph, retainers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..tensor import Backend, Node, Storage, Tensor, VersionCounter
    from .ending import Shape, TraceOutputs
    from .trace import Block


class Memory(Protocol):
    """What a replay provides to its commit: run-time values, and memory for what outlives it."""

    @property
    def values(self) -> Sequence[Any]:
        """The batch's run-time values."""

    def start(self, window: int) -> int:
        """Where a window, given by number, begins in its enclosing block, in elements."""

    def storage(self, of: Shape) -> Storage:
        """The memory of a block made by the program."""


class RealInputs(Protocol):
    """The real inputs, in the order of the trace's."""

    @property
    def tensors(self) -> Sequence[Tensor]:
        """Those of an InputSignature."""

    @property
    def nodes(self) -> Sequence[Node]:
        """Those of an InputSignature."""


def commit_simple(ending: TraceOutputs, memory: Memory, backend: Backend) -> dict[int, Tensor]:
    """What `Commit` makes of an ending that is ``simple``, by the ids of the traced tensors. Not on meta."""
    tensors = {}
    for f in ending.near:
        traced, storage = f.tensor, memory.storage(f)
        counter = type(traced._vc)()
        counter.n = traced._vc.n
        tensors[id(traced)] = made = backend.made(
            backend, storage, f.shape, f.strides, 0, f.dtype, storage.array, counter
        )
        if f.own:
            made.__dict__.update(f.own)
    return tensors


class Commit:
    """Makes one replay's results real. `tensors` and `nodes` map the ids of traced ones to real ones."""

    def __init__(self, ending: TraceOutputs, found: RealInputs, memory: Memory, backend: Backend) -> None:
        self.backend = backend
        self.values = memory.values
        self._memory = memory
        self._ending = ending
        self._reals = found.tensors
        self._real_nodes = found.nodes
        mirrored = ending.mirrored
        self.tensors: dict[int, Tensor] = dict(zip(mirrored.ids, found.tensors, strict=True))
        self.nodes: dict[int, Node] = dict(zip(mirrored.node_ids, found.nodes, strict=True))
        self._storages: dict[int, Storage] = {}
        self._counters: dict[int, tuple[VersionCounter, int]] = {}

    # -- memory --------------------------------------------------------------------------------------

    def memory(self, f: Shape) -> tuple[Storage, int]:
        """The real storage of a surviving tensor, and the tensor's offset in it, in elements."""
        offset = f.offset
        for w in f.windows:
            offset += self._memory.start(w)
        if f.source is not None:
            real = self._reals[f.source]
            assert real._storage is not None
            return real._storage, offset + (real.offset if f.floats else 0)
        found = self._storages.get(f.number)
        if found is None:
            found = self._storages[f.number] = self._memory.storage(f)
        return found, offset

    def begin(self, block: Block) -> int:
        """Where a block begins in its memory, in elements."""
        at = 0
        while block.of is not None:
            at += self._memory.start(block.number)
            block = block.of
        return at + (self._reals[block.source].offset if block.floats and block.source is not None else 0)

    def counter(self, traced: VersionCounter) -> tuple[VersionCounter, int]:
        """The real version counter of a traced one, and how far it is ahead."""
        found = self._counters.get(id(traced))
        if found is None:
            at = self._ending.counters.get(id(traced))
            if at is None:
                made = type(traced)()
                made.n = traced.n
                found = (made, 0)
            else:
                real = self._reals[at]._vc
                found = (real, real.n - self._ending.mirrored.before[at].version)
            self._counters[id(traced)] = found
        return found

    # -- what is made, what is changed ---------------------------------------------------------------

    def make(self) -> None:
        """Make new tensors and nodes, then bring the inputs to the state of their traced counterparts."""
        ending, tensors = self._ending, self.tensors
        near = []
        for f in ending.near:
            storage, offset = self.memory(f)
            counter, ahead = self.counter(f.tensor._vc)
            tensors[id(f.tensor)] = made = f.over(self.backend, storage, offset, counter)
            near.append((f, made, ahead))
        graph = ReplayedGraph(ending, self) if ending.nodes else None
        for f, made, ahead in near:
            f.dress(made, ahead, tensors)
            if f.tensor._fn is not None:
                made._fn = self._history(f.tensor._fn, graph)
        self._settle(graph)
        if ending.cuts:
            began = next_priority() if graph is None else graph.began
            for traced, before in ending.cuts.items():
                if traced in tensors:
                    tensors[traced]._cut = began + before

    def _history(self, traced: Node, graph: ReplayedGraph | None) -> Node:
        known = self.nodes.get(id(traced))
        if known is not None:
            return known
        assert graph is not None
        if not self._ending.folds:
            return graph.node(traced)
        made = self.nodes[id(traced)] = graph.fold(traced)
        return made

    def _settle(self, graph: ReplayedGraph | None) -> None:
        ending = self._ending
        ahead = {i: self.counter(t._vc)[1] for i, t, _ in ending.changed}
        for i, traced, bump in ending.changed:
            real: Any = self._reals[i]
            real._view_version = traced._view_version + ahead[i]
            real._vc.n += bump
            real._requires_grad = traced._requires_grad
            real._fn = None if traced._fn is None else self._history(traced._fn, graph)
            real._nr = traced._nr
            real._retains = traced._retains
            real._grad_dtype = traced._grad_dtype
            real._grad = None if traced._grad is None else self.tensors[id(traced._grad)]
        for i in ending.released:
            node: Any = self._real_nodes[i]
            node.saved = None
        for i in ending.retaining:
            real_node = self._real_nodes[i]
            real_node.retainers = retainers(ending.mirrored.nodes[i], lambda t: self.tensors.get(id(t)))
