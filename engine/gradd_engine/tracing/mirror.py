"""The inputs of a program as a trace sees them: tensors and their graphs.

`InputSignature` walks from the inputs over gradients, bases, nodes and their saved values, always in the same
order, and collects everything a plan depends on. In two batches with equal keys, the n-th tensors and nodes
of that order have the same roles. A program that runs no pass over an input's graph does not look behind the
input's node; then neither does the walk, so that a batch costs only what it touches, however long the graph
before it.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from ..data import Meta
from ..graph import OpNode
from ..tensor import (
    CUT,
    AccumulateGrad,
    Edge,
    Node,
    Saved,
    Tensor,
    TensorMeta,
    accumulator,
    next_priority,
    node_of,
    places,
)
from .numbers import Offset, TraceFailed, local

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from ..tensor import VersionCounter
    from .trace import Block, TraceBackend

#: inputs with more tensors or nodes are not planned: walking them would cost what a plan saves
_NODES = 2000


def floats(t: Tensor) -> bool:
    """Whether the replay decides a tensor's offset: an untracked view, such as a slice moving through the
    data.
    """
    base = t._base
    return base is not None and not (t._requires_grad or t._fn or base._requires_grad or base._fn)


class Unplannable(Exception):
    """The inputs have something that a plan cannot hold: hooks, tangents, other kinds of nodes."""


class InputSignature:
    """A batch's inputs: ``tensors`` and ``nodes`` in a fixed order, and the ``key`` of their geometry and
    relations.

    `deep`: numbers of the inputs whose graphs are walked, by default all. Nodes of the other inputs are not
    walked; they come last, from number ``walked`` on.
    """

    def __init__(self, inputs: Sequence[Tensor], deep: Set[int] | None = None) -> None:
        self.tensors: list[Tensor] = []
        self.nodes: list[Node] = []
        #: for each node from ``walked`` on: the input that led to it
        self.owners: list[int] = []
        self._places: dict[int, int] = {}
        self._storages: dict[int, int] = {}
        self._counters: dict[int, int] = {}
        shallow: Sequence[int] = range(len(inputs))
        if deep is None or deep:
            for i in shallow:
                if deep is None or i in deep:
                    self._place(inputs[i])
            shallow = () if deep is None else [i for i in shallow if i not in deep]
        parts: list[Any] = []
        tensors, nodes = self.tensors, self.nodes
        t = n = 0
        while t < len(tensors) or n < len(nodes):
            if t < len(tensors):
                parts.append(self._tensor(tensors[t]))
                t += 1
            else:
                parts.append(self._node(nodes[n]))
                n += 1
        self.walked = n
        for i in shallow:
            self._place(inputs[i])
            while t < len(tensors):
                parts.append(self._tensor(tensors[t]))
                t += 1
                while n < len(nodes):
                    parts.append(self._retained(nodes[n]))
                    self.owners.append(i)
                    n += 1
        self.inputs = tuple([self._places[id(x)] for x in inputs])
        ranks = sorted(range(n), key=lambda i: nodes[i].priority) if (n := self.walked) else ()
        self.key = (self.inputs, self.walked, tuple(parts), tuple(ranks))

    def _place(self, x: Tensor | Node) -> int:
        key = id(x)
        found = self._places.get(key)
        if found is None:
            where: list[Any] = self.tensors if isinstance(x, Tensor) else self.nodes
            found = self._places[key] = len(where)
            if found > _NODES:
                raise Unplannable
            where.append(x)
        return found

    def _tensor(self, t: Tensor) -> tuple[Any, ...]:
        if t._hooks or t._post_hooks or t._tangents or t._stands is not None:
            raise Unplannable
        base = t._base
        return (
            t._shape,
            t.strides,
            None if base is not None and floats(t) else t.offset,
            t._dtype,
            t._conj,
            t._requires_grad,
            t._grad_dtype,
            t._nr,
            t._retains,
            t._creation,
            self._storages.setdefault(id(t._storage), len(self._storages)),
            self._counters.setdefault(id(t._vc), len(self._counters)),
            t._vc.inference,
            None if base is None else (self._place(base), t._vc.n - t._view_version),
            None if t._grad is None else self._place(t._grad),
            None if t._fn is None else self._place(node_of(t)),  # type: ignore[arg-type]
        )

    def _node(self, node: Node) -> tuple[Any, ...]:
        if node.tensor_hooks or node.pre_hooks or node.post_hooks or node.shapes:
            raise Unplannable
        if isinstance(node, AccumulateGrad):
            return ("leaf", self._place(node.variable))
        if not isinstance(node, OpNode) or node.packed:
            raise Unplannable
        edges = tuple(None if e is None else (self._place(e.node), e.nr) for e in node.edges)
        saved = None if node.saved is None else tuple((n, self._saved(v)) for n, v in node.saved.items())
        if CUT and any(e.tensor._cut > node.priority for _, _, e in places(node.saved or {})):
            raise Unplannable  # a pass through it is refused
        inputs = tuple(self._saved(m) for m in node.inputs)
        return (
            node.op,
            node.name(),
            repr(node.attrs) if node.attrs else "",
            node.params,
            node.wants,
            node.values,
            node.width,
            edges,
            inputs,
            saved,
            self._retained(node),
        )

    def _retained(self, node: Node) -> tuple[tuple[int, int], ...]:
        return tuple(
            (nr, self._place(t)) for nr, ref in (node.retainers or {}).items() if (t := ref()) is not None
        )

    def _saved(self, entry: Any) -> Any:
        if isinstance(entry, TensorMeta):
            return (entry.shape, entry.dtype, entry.strides, int(entry.offset), entry.conj)
        if isinstance(entry, Saved):
            t = entry.tensor
            return (self._place(t), entry.is_output, entry.nr, t._vc.n - entry.version)
        if isinstance(entry, list):
            return tuple(self._saved(e) for e in entry)
        return repr(entry)


class Behind(Node):
    """A placeholder for a node whose graph was not walked. A trace may point edges at it; accessing anything
    else fails, and adds the input that led here to ``seen``.
    """

    def __init__(self, owner: int, seen: set[int]) -> None:
        self.priority = next_priority()
        self._owner, self._seen = owner, seen

    def __getattribute__(self, name: str) -> Any:
        if name not in _PLAIN:
            self._seen.add(self._owner)
            raise TraceFailed("the trace looks into a graph that was not walked")
        return object.__getattribute__(self, name)


#: what recording an op reads from an existing node
_PLAIN = frozenset(
    {"priority", "retainers", "folded", "unfold", "leaf", "_owner", "_seen", "__class__", "__dict__"}
)


class Before:
    """The state of an input when the trace began."""

    __slots__ = ("_objects", "_values", "version")

    def __init__(self, t: Tensor) -> None:
        self.version = t._vc.n
        self._objects = (t._fn, t._grad, t._grad_dtype)
        self._values = (t._requires_grad, t._nr, t._retains, t._view_version)

    def differs(self, t: Tensor) -> bool:
        """Whether anything except the version has changed."""
        now = (t._fn, t._grad, t._grad_dtype)
        return any(a is not b for a, b in zip(self._objects, now, strict=True)) or self._values != (
            t._requires_grad, t._nr, t._retains, t._view_version
        )  # fmt: skip


class AbstractInputs:
    """Traced tensors and nodes for an input signature, in its order. They hold geometry, never a session's
    memory.
    """

    def __init__(self, backend: TraceBackend, found: InputSignature) -> None:
        self._backend = backend
        self._blocks: dict[int, Block] = {}
        self._counters: dict[int, VersionCounter] = {}
        self.traced = [self._tensor(i, t) for i, t in enumerate(found.tensors)]
        of: dict[int, Any] = {id(r): m for r, m in zip(found.tensors, self.traced, strict=True)}
        self.nodes: list[Node] = [None] * len(found.nodes)  # type: ignore[list-item]
        #: inputs whose graph the trace accessed although it was not walked
        self.seen: set[int] = set()
        for i, owner in enumerate(found.owners, found.walked):
            self.nodes[i] = Behind(owner, self.seen)
        for i in sorted(range(found.walked), key=lambda i: found.nodes[i].priority):
            self.nodes[i] = self._shell(found.nodes[i], of)
        of.update((id(r), m) for r, m in zip(found.nodes, self.nodes, strict=True))
        for real, made in zip(found.nodes, self.nodes, strict=True):
            if isinstance(made, OpNode) and isinstance(real, OpNode):
                self._fill(real, made, of)
            if isinstance(made, (OpNode, Behind)):
                made.retainers = {
                    nr: weakref.ref(of[id(t)])
                    for nr, ref in (real.retainers or {}).items()
                    if (t := ref()) is not None
                }
        for real_t, t in zip(found.tensors, self.traced, strict=True):
            t._base = None if real_t._base is None else of[id(real_t._base)]
            t._grad = None if real_t._grad is None else of[id(real_t._grad)]
            t._fn = None if real_t._fn is None else of[id(real_t._fn)]
        self.inputs = [self.traced[i] for i in found.inputs]
        self.ids = [id(t) for t in self.traced]
        self.node_ids = [id(n) for n in self.nodes]
        self.before = [Before(t) for t in self.traced]
        self.released = [isinstance(n, OpNode) and n.saved is None for n in self.nodes]
        self.retaining = [bool(n.retainers) for n in self.nodes]
        self._blocks.clear()
        self._counters.clear()

    def check(self, found: InputSignature) -> None:
        """Raise TraceFailed if an input moved, as assigning `.data` does."""
        for t, real in zip(self.traced, found.tensors, strict=True):
            block: Any = t._storage
            moved = not block.floats and local(t.offset) != real.offset
            if moved or tuple(t.shape) != tuple(real.shape) or t.strides != real.strides:
                raise TraceFailed("an input changed its geometry")
            if block.source is None or t._hooks:
                raise TraceFailed("an input changed its memory")

    def _tensor(self, index: int, t: Tensor) -> Tensor:
        meta = Meta(tuple(t.shape), t.dtype, tuple(t.strides))
        offset = t.offset
        block: Any = None if floats(t) else self._blocks.get(id(t._storage))
        if floats(t):
            block = self._backend.block(meta, source=index)
            block.floats, offset = True, Offset.begin(0, block, None, None)
        elif block is None:
            block = self._blocks[id(t._storage)] = self._backend.block(meta, source=index)
        counter = self._counters.get(id(t._vc))
        if counter is None:
            counter = self._counters[id(t._vc)] = type(t._vc)()
            counter.n = t._vc.n
        made = Tensor._made(self._backend, block, t.shape, t.strides, offset, t.dtype, None, counter)
        for name in (
            "_requires_grad",
            "_grad_dtype",
            "_nr",
            "_retains",
            "_creation",
            "_view_version",
            "_conj",
        ):
            if name in t.__dict__:
                setattr(made, name, t.__dict__[name])
        return made

    def _shell(self, node: Node, of: dict[int, Any]) -> Node:
        if isinstance(node, AccumulateGrad):
            return accumulator(of[id(node.variable)])
        made = OpNode.__new__(OpNode)
        made.__dict__.update(node.__dict__)
        made.priority = next_priority()
        made.backend = self._backend
        return made

    def _fill(self, real: OpNode, made: OpNode, of: dict[int, Any]) -> None:
        made.edges = tuple(None if e is None else Edge(of[id(e.node)], e.nr) for e in real.edges)
        made.inputs = [self._saved(m, of) for m in real.inputs]
        made.saved = None if real.saved is None else {n: self._saved(v, of) for n, v in real.saved.items()}

    def _saved(self, entry: Any, of: dict[int, Any]) -> Any:
        if isinstance(entry, list):
            return [self._saved(e, of) for e in entry]
        if isinstance(entry, TensorMeta):
            meta = TensorMeta.__new__(TensorMeta)
            meta.shape, meta.dtype, meta.strides = entry.shape, entry.dtype, entry.strides
            meta.offset, meta.conj = entry.offset, entry.conj
            return meta
        if not isinstance(entry, Saved):
            return entry
        made = Saved.__new__(Saved)
        made.tensor = of[id(entry.tensor)]
        made.source = weakref.ref(made.tensor)
        made.is_output, made.nr, made.version = entry.is_output, entry.nr, entry.version
        return made
