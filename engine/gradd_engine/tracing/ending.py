"""What a trace ends with: the tensors and graphs that outlive it, sorted once for all replays.

Near tensors are held by a session or by its tensors, through ``.grad`` and bases. Far tensors are held by
graphs only. They are made together with the graph, on first access, unless that could keep memory alive for
longer than an eager run would.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..data import Meta, is_contiguous
from ..graph import CopySlices, OpNode
from ..tensor import AccumulateGrad, Node, Saved, Tensor, TensorMeta
from .mirror import Behind
from .numbers import Offset, TraceFailed, local
from .trace import Block

if TYPE_CHECKING:
    from ..tensor import Storage, VersionCounter
    from .mirror import AbstractInputs

#: a tensor's own attributes, besides memory and history
OWN = ("_requires_grad", "_nr", "_creation", "_retains", "_grad_dtype", "_conj")


def survivors(roots: Iterable[Tensor | None]) -> tuple[list[Tensor], list[Node]]:
    """The tensors that outlive the program, starting from `roots`, and their graphs' nodes in order of
    creation.
    """
    tensors: dict[int, Tensor] = {}
    nodes: dict[int, Node] = {}
    todo: list[Any] = [r for r in roots if r is not None]
    while todo:
        x = todo.pop()
        if isinstance(x, Tensor):
            if id(x) in tensors:
                continue
            tensors[id(x)] = x
            todo.extend(y for y in (x._base, x._grad, x._fn) if y is not None)
        else:
            if id(x) in nodes:
                continue
            nodes[id(x)] = x
            if isinstance(x, Behind):
                continue
            todo.extend(e.node for e in x.edges if e is not None)
            todo.extend(held(x))
    return list(tensors.values()), sorted(nodes.values(), key=lambda n: n.priority)


def held(node: Node) -> list[Tensor]:
    """The tensors that a node keeps alive."""
    if isinstance(node, AccumulateGrad):
        return [node.variable]
    if isinstance(node, CopySlices):
        return [e.tensor for e in saved(_inner(node))]
    if not isinstance(node, OpNode):
        raise TraceFailed(f"a graph with a {node.name()} cannot be planned")
    return [e.tensor for e in saved(node)]


def _inner(node: Node) -> Node:
    """The node that saves tensors: for CopySlices, the one inside it."""
    return node.fn if isinstance(node, CopySlices) and node.fn is not None else node


def saved(node: Node) -> list[Saved]:
    """The tensors a node saved."""
    entries = (getattr(node, "saved", None) or {}).values()
    flat = (e for entry in entries for e in (entry if isinstance(entry, list) else [entry]))
    return [e for e in flat if isinstance(e, Saved)]


def begins(node: Node) -> Iterator[Block]:
    """The blocks whose start a node's geometry depends on; it is known only at replay."""
    inner = _inner(node)
    metas: list[Any] = [node.base, node.view] if isinstance(node, CopySlices) else []
    if isinstance(inner, OpNode):
        metas += [*inner.attrs.values(), *inner.inputs, *(inner.saved or {}).values()]
    while metas:
        x = metas.pop()
        if isinstance(x, list):
            metas += x
            continue
        x = x.offset if isinstance(x, TensorMeta) else x
        if isinstance(x, Offset):
            yield x.block


def _numbers(storage: Any) -> Iterator[int]:
    block: Block | None = storage
    while block is not None:
        yield block.number
        block = block.of


def root(storage: Any) -> Block:
    """The outermost block around a block."""
    block: Block = storage
    while block.of is not None:
        block = block.of
    return block


class Shape:
    """A surviving tensor: its place in memory and its own attributes."""

    __slots__ = ("base", "dtype", "floats", "grad", "home", "number", "offset", "own", "shape", "source",
                 "strides", "tensor", "view_version", "whole", "windows")  # fmt: skip

    def __init__(self, t: Tensor, homes: dict[int, int]) -> None:
        self.tensor = t
        block: Any = t._storage
        windows = []
        while block.of is not None:
            windows.append(block.number)
            block = block.of
        self.windows = tuple(windows)
        self.source: int | None = block.source
        self.floats: bool = block.floats
        self.number: int = block.number
        #: the register of its memory if the plan allocates it, else -1
        self.home = homes.get(block.number, -1)
        self.offset = local(t.offset)
        self.shape, self.strides, self.dtype = t.shape, t.strides, t.dtype
        m = block.meta
        #: it is exactly the plan's array
        self.whole = (
            block.source is None
            and not windows
            and self.offset == 0
            and tuple(m.shape) == tuple(t.shape)
            and tuple(m.strides) == tuple(t.strides)
            and m.dtype is t.dtype
            and is_contiguous(t.shape, t.strides)
        )
        self.own = {name: t.__dict__[name] for name in OWN if name in t.__dict__}
        self.view_version = t._view_version
        self.base = t._base
        self.grad = t._grad

    def over(self, backend: Any, storage: Storage, offset: int, counter: VersionCounter) -> Tensor:
        """The real tensor, over real memory."""
        array = None
        if self.whole and not backend.is_meta:
            array = storage.array
        elif not backend.is_meta:
            meta = Meta(tuple(self.shape), self.dtype, self.strides, offset)
            array = backend.strided(storage.flat, meta)
        made: Tensor = backend.made(
            backend, storage, self.shape, self.strides, offset, self.dtype, array, counter
        )
        return made

    def dress(self, real: Tensor, ahead: int, tensors: dict[int, Tensor]) -> None:
        """Set its attributes, base and gradient; `ahead` is how far its version is ahead of the trace."""
        if self.own:
            real.__dict__.update(self.own)
        if self.base is not None:
            real._view_version = self.view_version + ahead
            real._base = tensors[id(self.base)]
        if self.grad is not None:
            real._grad = tensors[id(self.grad)]


class TraceOutputs:
    """What to make after a replay of the trace from `mirrored` to the slots `wanted`."""

    def __init__(self, mirrored: AbstractInputs, wanted: dict[int, Any]) -> None:
        self.mirrored = mirrored
        self.wanted = wanted
        roots: list[Any] = [*wanted.values(), *mirrored.traced, *mirrored.nodes]
        self._tensors, nodes = survivors(roots)
        known = {id(n) for n in mirrored.nodes}
        #: reachable nodes made by the program, in order of creation
        self.nodes = [n for n in nodes if id(n) not in known]
        #: id of an input's version counter -> the first input that has it
        self.counters = {id(t._vc): i for i, t in reversed(list(enumerate(mirrored.traced)))}
        #: numbers of all blocks with survivors, and of the blocks around them
        self.blocks = {n for t in self._tensors for n in _numbers(t._storage)}
        #: blocks whose start the new nodes depend on
        self.begins = list({b.number: b for n in self.nodes for b in begins(n)}.values())
        self.blocks.update(n for b in self.begins for n in _numbers(b))
        self.outliving = {b.number: b for t in self._tensors if (b := root(t._storage)).source is None}

    def settle(self, homes: dict[int, int]) -> None:
        """Sort tensors into near and far, once the surviving blocks have registers."""
        inputs = {id(t) for t in self.mirrored.traced}
        near: dict[int, Tensor] = {}
        todo = [t for t in (*self.wanted.values(), *self.mirrored.traced) if t is not None]
        while todo:
            t = todo.pop()
            if id(t) not in near:
                near[id(t)] = t
                todo.extend(x for x in (t._base, t._grad) if x is not None)
        fresh = [t for t in self._tensors if id(t) not in inputs]
        self.near = [Shape(t, homes) for t in fresh if id(t) in near]
        self.far = [Shape(t, homes) for t in fresh if id(t) not in near]
        made = {id(n) for n in self.nodes}
        #: new nodes that are the history of near tensors or inputs
        histories = {id(t._fn) for t in near.values() if t._fn is not None and id(t._fn) in made}
        #: tensors that the new nodes keep alive, besides far ones
        kept = [t for n in self.nodes for t in held(n)]
        kept += [x for f in self.far for x in (f.base, f.grad) if x is not None]
        kept += [self.mirrored.traced[f.source] for f in self.far if f.source is not None]
        far = {id(f.tensor) for f in self.far}
        self.kept = list({id(t): t for t in kept if id(t) not in far}.values())
        edges = [e.node for n in self.nodes for e in n.edges if e is not None]
        edges += [f.tensor._fn for f in self.far if f.tensor._fn is not None]
        old = [n for n in edges if id(n) not in made]
        self.old_nodes = list({id(n): n for n in old}.values())
        entries = [e for n in self.nodes for e in saved(_inner(n))]
        self.stamps = list({id(e.tensor._vc): e.tensor._vc for e in entries}.values())
        looked = [x for e in entries if (x := e.source()) is not None]
        looked += [x for n in self.nodes for r in (n.retainers or {}).values() if (x := r()) is not None]
        self.known = [i for i in {id(x) for x in looked} if i in near]
        #: for tensors cut from their graphs by detach_(): how many new nodes came before the cut
        self.cuts = {id(t): sum(n.priority < t._cut for n in self.nodes) for t in self._tensors if t._cut}
        cycle = any(
            id(t._fn) in histories or (t._base is not None and id(t._base._fn) in histories)
            for t in self.kept
        )
        #: with several histories, one would keep alive what another needs
        self.folds = len(histories) == 1 and not cycle
        self._note_inputs()
        #: the program leaves its inputs as they were, and makes no graph
        self.inert = not (self.changed or self.released or self.retaining or self.cuts or self.nodes)
        #: and what it makes are tensors with memory of their own each
        self.simple = (
            self.inert
            and all(f.whole and f.base is None and f.grad is None and f.tensor._fn is None for f in self.near)
            and len({f.number for f in self.near}) == len(self.near)
            and not any(id(f.tensor._vc) in self.counters for f in self.near)
            and len({id(f.tensor._vc) for f in self.near}) == len(self.near)
            and {id(t) for t in self.wanted.values() if t is not None} <= {id(f.tensor) for f in self.near}
        )

    def _note_inputs(self) -> None:
        """Note the inputs whose state the program changes."""
        self.changed = []
        counters: set[int] = set()
        for i, (t, before) in enumerate(zip(self.mirrored.traced, self.mirrored.before, strict=True)):
            bump = t._vc.n - before.version if id(t._vc) not in counters else 0
            counters.add(id(t._vc))
            if bump or before.differs(t):
                self.changed.append((i, t, bump))
        self.released = [
            i
            for i, (n, before) in enumerate(zip(self.mirrored.nodes, self.mirrored.released, strict=True))
            if isinstance(n, OpNode) and n.saved is None and not before
        ]
        self.retaining = [
            i
            for i, (n, before) in enumerate(zip(self.mirrored.nodes, self.mirrored.retaining, strict=True))
            if isinstance(n, (OpNode, Behind)) and (n.retainers or before)
        ]
