"""After a replay: the tensors, gradients, versions and graphs that the eager run would have left, around the
replay's arrays.

The trace ended with tensors without numbers; each that outlives the program is made again over real memory.
Graphs come with them, node by node, with what they saved.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from gradd_engine.graph import OpNode
from gradd_engine.layout import Meta
from gradd_engine.nodes import AccumulateGrad, Node, accumulator, next_priority
from gradd_engine.saved import Saved, TensorMeta
from gradd_engine.tensor import Storage, Tensor, VersionCounter
from gradd_engine.views import CopySlices

from .lower import Frame, flat_of
from .numbers import TraceFailed, place_of
from .trace import Block

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gradd_engine.backends.array import ArrayBackend
    from gradd_engine.memory import Account

    from .mirror import Found, Mirrored


def survivors(roots: Iterable[Tensor | None]) -> tuple[list[Tensor], list[Node]]:
    """The tensors that outlive the program with `roots`, and the nodes of their graphs in order of
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
            todo.extend(_parts(x))
    return list(tensors.values()), sorted(nodes.values(), key=lambda n: n.priority)


def _parts(node: Node) -> list[Any]:
    """What a node holds on to."""
    out: list[Any] = [e.node for e in node.edges if e is not None]
    if isinstance(node, AccumulateGrad):
        return [node.variable]
    if isinstance(node, CopySlices):
        return out if node.fn is None else [*out, *_saved_tensors(node.fn)]
    if not isinstance(node, OpNode):
        raise TraceFailed(f"a graph with a {node.name()} cannot be planned")
    return [*out, *_saved_tensors(node)]


def _saved_tensors(node: OpNode) -> list[Tensor]:
    out: list[Tensor] = []
    for entry in (node.saved or {}).values():
        for e in entry if isinstance(entry, list) else [entry]:
            if isinstance(e, Saved):
                out.append(e.tensor)
    return out


class Commit:
    """One replay's results made real."""

    def __init__(
        self, mirrored: Mirrored, found: Found, frame: Frame, backend: ArrayBackend,
        homes: dict[int, int], account: Account | None,
    ) -> None:  # fmt: skip
        self._frame = frame
        self._backend = backend
        self._homes = homes
        self._account = account
        self._reals = found.tensors
        self._real_nodes = found.nodes
        self._tensors: dict[int, Tensor] = {}
        self._storages: dict[int, Storage] = {}
        self._counters: dict[int, tuple[VersionCounter, int]] = {}
        self._nodes: dict[int, Node] = {}
        for node, real_node in zip(mirrored.nodes, found.nodes, strict=True):
            self._nodes[id(node)] = real_node
        for traced, real, version in zip(mirrored.traced, found.tensors, mirrored.versions, strict=True):
            self._tensors[id(traced)] = real
            self._counters[id(traced._vc)] = (real._vc, real._vc.n - version)

    def value(self, traced: Any) -> Any:
        """An attribute or saved number as of this batch."""
        at = place_of(traced)
        return traced if at is None else self._frame.values[at]

    # -- memory --------------------------------------------------------------------------------------

    def _storage(self, block: Block) -> tuple[Storage, int]:
        """The real storage of a block, and where in it the block begins (elements)."""
        start = 0
        while block.of is not None:
            start += self._frame.starts[block.number]
            block = block.of
        if block.source is not None:
            real = self._reals[block.source]
            assert real.storage is not None
            return real.storage, start + (real.offset if block.floats else 0)
        found = self._storages.get(block.number)
        if found is None:
            array = self._frame.arrays[self._homes[block.number]]
            if self._account is not None:
                self._account.take(array.nbytes)
            found = self._storages[block.number] = Storage(array, array.nbytes, self._account)
        return found, start

    def _counter(self, traced: VersionCounter) -> tuple[VersionCounter, int]:
        found = self._counters.get(id(traced))
        if found is None:
            made = VersionCounter()
            made.n = traced.n
            found = self._counters[id(traced)] = (made, 0)
        return found

    # -- tensors and nodes ---------------------------------------------------------------------------

    def make(self, tensors: Sequence[Tensor], nodes: Sequence[Node]) -> None:
        """Make all survivors; inputs among them are changed in place by `settle`."""
        fresh = [t for t in tensors if id(t) not in self._tensors]
        for t in fresh:
            self._tensors[id(t)] = self._shell(t)
        new = [n for n in nodes if id(n) not in self._nodes]
        for node in new:
            self._nodes[id(node)] = self._node(node)
        for node in new:
            self._connect(node)
        for t in fresh:
            self._dress(t, self._tensors[id(t)])

    def _shell(self, t: Tensor) -> Tensor:
        block: Any = t.storage
        storage, start = self._storage(block)
        offset = int(t.offset) + start
        meta = Meta(tuple(t.shape), t.dtype, tuple(t.strides), offset)
        whole = storage.array
        same = offset == 0 and whole.shape == t.shape and whole.dtype == t.dtype.np and block.of is None
        item = t.dtype.itemsize
        same = same and all(
            n == 1 or s == k * item for n, s, k in zip(t.shape, whole.strides, t.strides, strict=True)
        )
        array = whole if same else self._backend.strided(flat_of(whole), meta)
        return Tensor(
            self._backend, storage, t.shape, t.strides, offset, t.dtype, array, self._counter(t._vc)[0]
        )

    def _dress(self, traced: Tensor, real: Tensor) -> None:
        delta = self._counter(traced._vc)[1]
        for name in ("_requires_grad", "_nr", "_creation", "_retains", "_grad_dtype"):
            if name in traced.__dict__:
                setattr(real, name, traced.__dict__[name])
        real._view_version = traced._view_version + delta
        if traced._base is not None:
            real._base = self._tensors[id(traced._base)]
        if traced._grad is not None:
            real._grad = self._tensors[id(traced._grad)]
        if traced._fn is not None:
            real._fn = self._nodes[id(traced._fn)]

    def _node(self, node: Node) -> Node:
        if isinstance(node, AccumulateGrad):
            return accumulator(self._tensors[id(node.variable)])
        if isinstance(node, CopySlices):
            made: Node = CopySlices.__new__(CopySlices)
        else:
            assert isinstance(node, OpNode)
            made = OpNode.__new__(OpNode)
        made.__dict__.update(node.__dict__)
        made.priority = next_priority()
        made.backend = self._backend
        return made

    def _connect(self, node: Node) -> None:
        made = self._nodes[id(node)]
        if isinstance(node, AccumulateGrad):
            return
        made.edges = tuple(None if e is None else type(e)(self._nodes[id(e.node)], e.nr) for e in node.edges)
        made.retainers = self._retainers(node)
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

    def _retainers(self, node: Node) -> dict[int, weakref.ref[Tensor]] | None:
        """The tensors that keep the gradients of a node's outputs, as far as they live on."""
        return {
            nr: weakref.ref(self._tensors[id(t)])
            for nr, ref in (node.retainers or {}).items()
            if (t := ref()) is not None and id(t) in self._tensors
        } or None

    def _fill(self, node: OpNode) -> None:
        node.backend = self._backend
        node.attrs = {n: self.value(v) for n, v in node.attrs.items()}
        node.inputs = [self._saved(m) for m in node.inputs]
        if node.saved is not None:
            node.saved = {n: self._saved(v) for n, v in node.saved.items()}

    def _saved(self, entry: Any) -> Any:
        if isinstance(entry, list):
            return [self._saved(e) for e in entry]
        if isinstance(entry, TensorMeta):
            return self._meta(entry)
        if not isinstance(entry, Saved):
            return self.value(entry)
        made = Saved.__new__(Saved)
        made.tensor = self._tensors[id(entry.tensor)]
        source = entry.source()
        made.source = weakref.ref(
            self._tensors.get(id(source), made.tensor) if source is not None else made.tensor
        )
        made.is_output, made.nr = entry.is_output, entry.nr
        made.version = entry.version + self._counter(entry.tensor._vc)[1]
        return made

    def _meta(self, meta: TensorMeta) -> TensorMeta:
        made = TensorMeta.__new__(TensorMeta)
        made.shape, made.dtype, made.strides = meta.shape, meta.dtype, meta.strides
        made.offset, made.backend = int(meta.offset), self._backend
        return made

    def tensor(self, traced: Any) -> Any:
        """The real tensor of a traced one."""
        return None if traced is None else self._tensors[id(traced)]

    # -- inputs --------------------------------------------------------------------------------------

    def settle(self, mirrored: Mirrored) -> None:
        """Bring the inputs to the state in which the trace left its mirrors."""
        done: set[int] = set()
        for traced, real, version in zip(mirrored.traced, self._reals, mirrored.versions, strict=True):
            real._view_version = traced._view_version + self._counter(traced._vc)[1]
            if id(real._vc) not in done:
                done.add(id(real._vc))
                real._vc.n += traced._vc.n - version
            real._requires_grad = traced._requires_grad
            real._fn = None if traced._fn is None else self._nodes[id(traced._fn)]
            real._nr = traced._nr
            real._retains = traced._retains
            real._grad_dtype = traced._grad_dtype
            real._grad = self.tensor(traced._grad)
        for node, real_node, released in zip(
            mirrored.nodes, self._real_nodes, mirrored.released, strict=True
        ):
            if isinstance(node, OpNode) and isinstance(real_node, OpNode):
                if node.saved is None and not released:
                    real_node.saved = None
                if node.retainers or real_node.retainers:
                    real_node.retainers = self._retainers(node)
