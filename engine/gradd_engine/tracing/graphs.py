"""The graph that a replay leaves behind, and the tensors only it holds, made on demand."""

from __future__ import annotations

import operator
import weakref
from typing import TYPE_CHECKING, Any

from ..data import state
from ..graph import CopySlices, OpNode
from ..tensor import (
    AccumulateGrad,
    Edge,
    LazyNode,
    Node,
    Saved,
    Tensor,
    TensorMeta,
    accumulator,
    next_priority,
)
from .ending import held
from .numbers import Offset, place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..tensor import Storage
    from .commit import Commit
    from .ending import TraceOutputs


class ReplayedGraph:
    """The new nodes of one replay, and what they need, as of the end of the replay.

    Unlike a `Commit` it may live long: of the session's tensors it holds only those that the nodes keep.
    """

    def __init__(self, ending: TraceOutputs, commit: Commit) -> None:
        self._ending = ending
        self._backend = commit.backend
        self._values = commit.values
        self._far = [(f, *commit.memory(f), *commit.counter(f.tensor._vc)) for f in ending.far]
        self._tensors: dict[int, Tensor] = {id(t): commit.tensors[id(t)] for t in ending.kept}
        self._nodes: dict[int, Node] = {id(n): commit.nodes[id(n)] for n in ending.old_nodes}
        #: near tensors that nodes refer to but do not keep alive
        self._known = {i: weakref.ref(commit.tensors[i]) for i in ending.known}
        #: how far versions have advanced since the trace
        self._ahead = {id(vc): commit.counter(vc)[1] for vc in ending.stamps}
        #: the starts of blocks that nodes depend on
        self._begins = {b.number: commit.begin(b) for b in ending.begins}
        #: sequence numbers are taken now, whenever the nodes are made
        self.began = next_priority()
        self.made = False

    def fold(self, traced: Node) -> LazyNode:
        """A lazy node for the real counterpart of a traced node."""
        return LazyNode(self, traced)

    def node(self, traced: Node) -> Node:
        """The real counterpart of a traced node; the first call makes all, and the tensors only they hold."""
        if not self.made:
            self.made = True
            self._make()
        return self._nodes[id(traced)]

    def kept(self) -> Iterator[tuple[Node, Tensor]]:
        """See FoldedGraph."""
        for node in self._ending.nodes:
            for t in held(node):
                yield node, t

    def behind(self) -> dict[int, Tensor | Storage]:
        """See FoldedGraph."""
        return {id(f.tensor): storage for f, storage, *_ in self._far} | self._tensors

    def holds(self) -> Iterator[Tensor | Node]:
        """See FoldedGraph."""
        kept = {id(t) for _, t in self.kept()}
        yield from (t for i, t in self._tensors.items() if i not in kept)
        yield from self._nodes.values()

    def _make(self) -> None:
        for f, storage, offset, counter, _ in self._far:
            self._tensors[id(f.tensor)] = f.over(self._backend, storage, offset, counter)
        for i, node in enumerate(self._ending.nodes):
            self._nodes[id(node)] = self._shell(node, self.began + i)
        for node in self._ending.nodes:
            self._connect(node)
        for f, _, _, _, ahead in self._far:
            made = self._tensors[id(f.tensor)]
            f.dress(made, ahead, self._tensors)
            if f.tensor._fn is not None:
                made._fn = self._nodes[id(f.tensor._fn)]
            before = self._ending.cuts.get(id(f.tensor))
            if before is not None:
                made._cut = self.began + before

    def _shell(self, node: Node, priority: int) -> Node:
        if isinstance(node, AccumulateGrad):
            return accumulator(self._tensors[id(node.variable)])
        if isinstance(node, CopySlices):
            made: Node = CopySlices.__new__(CopySlices)
        else:
            assert isinstance(node, OpNode)
            made = OpNode.__new__(OpNode)
        made.__dict__.update(node.__dict__)
        made.priority = priority
        made.counted = None if state.account is None else state.account.graphs
        made.backend = self._backend
        return made

    def _connect(self, node: Node) -> None:
        made = self._nodes[id(node)]
        if isinstance(node, AccumulateGrad):
            return
        made.edges = tuple(None if e is None else Edge(self._nodes[id(e.node)], e.nr) for e in node.edges)
        made.retainers = retainers(node, self._find)
        if isinstance(made, CopySlices):
            made.base, made.view = self._meta(made.base), self._meta(made.view)
            if made.fn is not None:
                inner = OpNode.__new__(OpNode)
                inner.__dict__.update(made.fn.__dict__)
                inner.edges = (None, *made.edges[1:])
                self._fill(inner)
                made.fn = inner
        else:
            assert isinstance(made, OpNode)
            self._fill(made)

    def _find(self, traced: Tensor) -> Tensor | None:
        """The real counterpart of a traced tensor, if it is still alive."""
        found = self._tensors.get(id(traced))
        ref = self._known.get(id(traced))
        return found if found is not None or ref is None else ref()

    def _value(self, traced: Any) -> Any:
        """An attribute or saved number, with this replay's values."""
        if isinstance(traced, Offset):
            return self._begins[traced.block.number] + traced.local
        at = place_of(traced)
        return traced if at is None else self._values[at]

    def _fill(self, node: OpNode) -> None:
        # What no replay changes is shared with the traced node: a large graph is looked through for garbage
        # again and again, which costs as much as there is of it.
        node.backend = self._backend
        attrs = {n: self._value(v) for n, v in node.attrs.items()}
        if not _same(attrs.values(), node.attrs.values()):
            node.attrs = attrs
        inputs = [self._saved(m) for m in node.inputs]
        if not _same(inputs, node.inputs):
            node.inputs = inputs
        if node.saved:
            node.saved = {n: self._saved(v) for n, v in node.saved.items()}

    def _saved(self, entry: Any) -> Any:
        if isinstance(entry, list):
            return [self._saved(e) for e in entry]
        if isinstance(entry, TensorMeta):
            return self._meta(entry)
        if not isinstance(entry, Saved):
            return self._value(entry)
        made = Saved.__new__(Saved)
        made.tensor = self._tensors[id(entry.tensor)]
        source = entry.source()
        found = None if source is None else self._find(source)
        made.source = weakref.ref(made.tensor if found is None else found)
        made.is_output, made.nr = entry.is_output, entry.nr
        made.version = entry.version + self._ahead[id(entry.tensor._vc)]
        return made

    def _meta(self, meta: TensorMeta) -> TensorMeta:
        offset = self._value(meta.offset)
        if offset is meta.offset:
            return meta
        made = TensorMeta.__new__(TensorMeta)
        made.shape, made.dtype, made.strides = meta.shape, meta.dtype, meta.strides
        made.offset, made.conj = offset, meta.conj
        return made


def _same(some: Iterable[Any], others: Iterable[Any]) -> bool:
    """Whether all are the same objects."""
    return all(map(operator.is_, some, others))


def retainers(node: Node, find: Callable[[Tensor], Tensor | None]) -> dict[int, weakref.ref[Tensor]] | None:
    """The living tensors that retain the gradients of a node's outputs."""
    found = {
        nr: weakref.ref(real)
        for nr, ref in (node.retainers or {}).items()
        if (t := ref()) is not None and (real := find(t)) is not None
    }
    return found or None
