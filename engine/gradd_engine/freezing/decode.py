"""Rows as tensors and graphs again.

First everything without what it refers to, then the references: what is frozen may hold itself in a circle.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backward import Look, name_class
from ..custom import CustomNode, DelayedError, DirtySlices
from ..data import Meta, Size, dtypes, state
from ..graph import CopySlices, Level, OpNode
from ..schema import REGISTRY
from ..tensor import (
    CUT,
    ROOM,
    AccumulateGrad,
    Edge,
    InferenceCounter,
    Node,
    Packed,
    Saved,
    Storage,
    Tensor,
    TensorMeta,
    VersionCounter,
    next_priority,
)
from . import values
from .collector import uncollected
from .rows import (
    CONJUGATE,
    FORMAT,
    NONE,
    REQUIRES,
    RETAINS,
    Frozen,
    FrozenGraph,
    NodeRow,
    StorageRow,
    TensorRow,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    #: puts the hook of a name into a registry of a tensor or node
    Hang = Callable[[str, list[Any], Tensor | Node], None]


class BadFrozen(ValueError):
    """What is to be thawed is not what `freeze` wrote, or was written by another version."""


def _no_hooks(name: str, registry: list[Any], owner: Any) -> None:
    raise BadFrozen(f"there is no hook {name!r}")


def thaw(frozen: Frozen, backend: Any, hang: Hang = _no_hooks) -> dict[str, Tensor]:
    """The roots of `frozen`, and all that they hold, as new tensors and nodes on `backend`.

    Arrays in `frozen.memory` that can be written to are taken over, others are copied. All is counted in the
    ambient account, past its limit if need be. Sequence numbers keep their order, and come before those of
    all nodes made later. ``hang(name, registry, owner)`` puts a hook of a
    tensor or node where one stood.

    Raises BadFrozen for rows that do not go together; nothing is left behind then.
    """
    if frozen.graph.format != FORMAT:
        raise BadFrozen(f"format {frozen.graph.format} is not {FORMAT}, which this version reads")
    try:
        with uncollected():
            return _Thawing(frozen, backend, hang).roots()
    except BadFrozen:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise BadFrozen(f"the rows do not go together: {type(error).__name__}: {error}") from error


class _Gone:
    """What a weak reference to something that is no more refers to."""


class _Thawing:
    """The objects of all rows, by number."""

    def __init__(self, frozen: Frozen, backend: Any, hang: Hang) -> None:
        graph = self._graph = frozen.graph
        self._backend, self._hang = backend, hang
        if len(frozen.memory) != len(graph.storages):
            raise BadFrozen(f"there are {len(graph.storages)} storages and {len(frozen.memory)} arrays")
        self._check_numbers(graph)
        self._orders = _orders(graph.order)
        self._storages = [self._storage(r, a) for r, a in zip(graph.storages, frozen.memory, strict=True)]
        self._counters = [_counter(n, inference) for n, inference in graph.counters]
        self._levels = [_level(depth, alive) for depth, alive in graph.levels]
        self._metas = [_geometry(r.dtype, r.shape, r.strides, r.offset, r.conj) for r in graph.geometries]
        self._shared: dict[tuple[int, ...], list[Any]] = {}
        self._tensors = [self._tensor(r) for r in graph.tensors]
        self._nodes = [self._node(r) for r in graph.nodes]
        for r, t in zip(graph.tensors, self._tensors, strict=True):
            self._hold(r, t)
        for row, node in zip(graph.nodes, self._nodes, strict=True):
            self._connect(row, node)

    def roots(self) -> dict[str, Tensor]:
        """The tensors that were asked for."""
        return {name: self._tensors[at] for name, at in self._graph.roots.items()}

    def _check_numbers(self, graph: FrozenGraph) -> None:
        """BadFrozen for numbers that Python would count from the end, and for more places than rows."""
        if not 0 <= graph.order <= len(graph.nodes) + len(graph.tensors):
            raise BadFrozen("there are more places in the order than rows")
        for r in graph.tensors:
            if min(r.storage, r.counter, r.nr) < 0 or min(r.fn, r.grad, r.base, r.accumulator) < NONE:
                raise BadFrozen("a tensor refers to a number below 0")
        for n in graph.nodes:
            if min(n.edges, default=0) < NONE or n.order < NONE:
                raise BadFrozen("a node refers to a number below 0")

    # -- memory ------------------------------------------------------------------------------------

    def _storage(self, row: StorageRow, flat: Any) -> Storage:
        backend, account = self._backend, state.account
        flat = backend.xp.asarray(flat)
        if not getattr(flat.flags, "writeable", True) or not flat.flags.c_contiguous:
            flat = flat.copy()
        if flat.dtype != np.uint8 or flat.ndim != 1:
            raise BadFrozen("the bytes of a storage are not flat")
        meta = Meta(tuple(row.shape), dtypes.by_name(row.dtype), tuple(row.strides))
        array = backend.strided(flat, meta)
        if account is not None:
            account.count(row.nbytes)
        made = Storage(array, row.nbytes, account)
        made._flat = flat
        return made

    # -- tensors -----------------------------------------------------------------------------------

    def _tensor(self, row: TensorRow) -> Tensor:
        backend, storage = self._backend, self._storages[row.storage]
        shape, strides = tuple(row.shape), tuple(row.strides)
        dtype = dtypes.by_name(row.dtype)
        array = storage.array
        item = dtype.itemsize
        same = array.dtype == dtype.np and array.shape == shape and not row.offset
        if not same or array.strides != tuple([n * item for n in strides]):
            array = backend.strided(storage.flat, Meta(shape, dtype, strides, row.offset))
        t: Tensor = backend.made(
            backend, storage, shape, strides, row.offset, dtype, array, self._counters[row.counter]
        )
        if row.flags & REQUIRES:
            t._requires_grad = True
        if row.flags & RETAINS:
            t._retains = True
        if row.flags & CONJUGATE:
            t._conj = True
        return t

    def _hold(self, row: TensorRow, t: Tensor) -> None:
        if row.fn != NONE:
            t._fn = self._nodes[row.fn]
        if row.nr:
            t._nr = row.nr
        if row.grad != NONE:
            t._grad = self._tensors[row.grad]
        if row.base != NONE:
            t._base, t._view_version = self._tensors[row.base], row.view_version
        if row.accumulator != NONE:
            t._acc = weakref.ref(self._nodes[row.accumulator])  # type: ignore[arg-type]
        if row.more is not None:
            self._hold_rare(row.more, t)

    def _hold_rare(self, more: dict[str, Any], t: Tensor) -> None:
        t._creation = more.get("creation")
        if "grad_dtype" in more:
            name = more["grad_dtype"]
            t._grad_dtype = None if name is None else dtypes.by_name(name)
        if "cut" in more:
            t._cut = self._orders[more["cut"]]
            CUT[:] = [True]
        if "stands" in more:
            edge = None if more["stands"] is None else self._edge(*more["stands"])
            t._stands = lambda: edge
        for level, tangent in more.get("tangents", ()):
            self._levels[level].give(t, None if tangent == NONE else self._tensors[tangent])
        for name in more.get("hooks", ()):
            t._hooks = [] if t._hooks is None else t._hooks
            self._put(name, t._hooks, t)
        for name in more.get("post_hooks", ()):
            t._post_hooks = [] if t._post_hooks is None else t._post_hooks
            self._put(name, t._post_hooks, t)
        if "level" in more:
            t._holds = self._levels[more["level"]]
        elif "holds" in more:
            t._holds = values.decode(more["holds"], _unknown)

    def _put(self, name: str, registry: list[Any], owner: Tensor | Node) -> None:
        self._hang(name, registry, owner)
        Node.callables = True

    # -- nodes -------------------------------------------------------------------------------------

    def _node(self, row: NodeRow) -> Node:
        kind = _KINDS[row.kind][0]
        if kind is AccumulateGrad:
            return AccumulateGrad(self._tensors[row.data[0]])
        node: Node = kind.__new__(kind)
        node.priority = self._orders[row.order]
        node.backend = self._backend
        if kind is not CustomNode and state.account is not None:
            node.counted = state.account.graphs
        return node

    def _edge(self, node: int, nr: int) -> Edge | None:
        return None if node == NONE else Edge(self._nodes[node], nr)

    def _connect(self, row: NodeRow, node: Node) -> None:
        if row.edges:
            pairs = zip(row.edges[::2], row.edges[1::2], strict=True)
            node.edges = tuple([self._edge(n, nr) for n, nr in pairs])
        if row.width != 1:
            node.width = row.width
        _KINDS[row.kind][1](self, node, row.data)
        if row.more is not None:
            self._connect_rare(node, row.more)

    def _connect_rare(self, node: Node, more: dict[str, Any]) -> None:
        for nr, names in more.get("tensor_hooks", ()):
            hooks = {} if node.tensor_hooks is None else node.tensor_hooks
            node.tensor_hooks = hooks
            for name in names:
                self._put(name, hooks.setdefault(nr, []), node)
        for kind in ("pre_hooks", "post_hooks"):
            for name in more.get(kind, ()):
                registry = getattr(node, kind)
                if registry is None:
                    registry = []
                    setattr(node, kind, registry)
                self._put(name, registry, node)
        if "retainers" in more:
            node.retainers = {nr: self._weak(t) for nr, t in more["retainers"]}
        if "metadata" in more:
            node._metadata = values.decode(more["metadata"], _unknown)
        if "shapes" in more:
            node.shapes = {nr: Size(shape) for nr, *shape in more["shapes"]}
            Node.turned = True
        if "geometries" in more:
            node.geometries = {nr: (Size(shape), dtypes.by_name(d)) for nr, d, *shape in more["geometries"]}
        if "looks" in more:
            node.looks = {nr: Look(values.decode(g, _unknown)) for nr, g in more["looks"]}
            name_class(node)
        if "site" in more:
            node.site = tuple(more["site"])

    def _weak(self, tensor: int) -> weakref.ref[Tensor]:
        if tensor == NONE:
            return weakref.ref(_Gone())  # type: ignore[arg-type]
        return weakref.ref(self._tensors[tensor])

    def _op(self, node: Any, data: list[Any]) -> None:
        name, params, label, attrs, inputs, wants, saved, keeps, packed = data
        op = node.op = REGISTRY[name]
        node.params = op.edge_params if params is None else tuple(params)
        if label:
            node._label = label
        node.attrs = {key: values.decode(v, self._entry) for key, v in attrs}
        key = tuple(inputs) if all(type(m) is int for m in inputs) else None
        shared = None if key is None else self._shared.get(key)
        if shared is None:
            shared = [self._geometries(m) for m in inputs]
            if key is not None:
                self._shared[key] = shared
        node.inputs, node.wants = shared, tuple(wants)
        node.saved = None if saved is None else {key: values.decode(e, self._entry) for key, e in saved}
        if keeps:
            node.values = True
        if packed:
            node.packed = True

    def _geometries(self, m: Any) -> Any:
        if isinstance(m, list):
            return [self._geometries(e) for e in m]
        return None if m == NONE else self._metas[m]

    def _entry(self, tag: str, rest: list[Any]) -> Any:
        if tag == "saved":
            made = Saved.__new__(Saved)
            tensor, made.version, made.is_output, made.nr, source = rest
            made.tensor, made.source = self._tensors[tensor], self._weak(source)
            return made
        if tag == "geometry":
            return self._metas[rest[0]]
        if tag == "tensor":
            return self._tensors[rest[0]]
        if tag == "packed":
            box = Packed.__new__(Packed)
            box._nr, node, nr = rest
            box._edge = self._edge(node, nr)
            box.box = box.unpack = box.stand_in = box.found = None
            return box
        return _unknown(tag, rest)

    def _leaf(self, node: Any, data: list[Any]) -> None:
        """All that it has was said when it was made."""

    def _inner(self, at: int, kind: type[Node]) -> Any:
        node = None if at == NONE else self._nodes[at]
        if node is not None and not isinstance(node, kind):
            raise BadFrozen(f"a written view's node is a {type(node).__name__}")
        return node

    def _slices(self, node: Any, data: list[Any]) -> None:
        fn, base, view = data
        node.fn, node.base, node.view = self._inner(fn, OpNode), self._metas[base], self._metas[view]

    def _custom(self, node: Any, data: list[Any]) -> None:
        node._label, metas, outputs, arguments = data
        node.metas = {nr: self._metas[m] for nr, m in metas}
        node.outputs = None if outputs is None else [self._entry(tag, rest) for tag, *rest in outputs]
        node.arguments = [(Size(shape), dtypes.by_name(dtype)) for dtype, *shape in arguments]

    def _dirty(self, node: Any, data: list[Any]) -> None:
        fn, node.at, base, view = data
        node.fn, node._base, node._view = self._inner(fn, CustomNode), self._metas[base], self._metas[view]

    def _error(self, node: Any, data: list[Any]) -> None:
        (node._message,) = data


_KINDS: dict[str, tuple[type[Node], Callable[[_Thawing, Any, list[Any]], None]]] = {
    "OpNode": (OpNode, _Thawing._op),
    "AccumulateGrad": (AccumulateGrad, _Thawing._leaf),
    "CopySlices": (CopySlices, _Thawing._slices),
    "CustomNode": (CustomNode, _Thawing._custom),
    "DirtySlices": (DirtySlices, _Thawing._dirty),
    "DelayedError": (DelayedError, _Thawing._error),
}


def _unknown(tag: str, rest: list[Any]) -> Any:
    raise BadFrozen(f"nothing is known of values with the tag {tag!r}")


def _orders(count: int) -> list[int]:
    """So many sequence numbers of now, in order."""
    found: list[int] = []
    while len(found) < count:
        begin = next_priority()
        found.extend(range(begin, begin + min(ROOM, count - len(found))))
    return found


def _counter(n: int, inference: bool) -> VersionCounter:
    made = InferenceCounter() if inference else VersionCounter()
    made.n = n
    return made


def _level(depth: int, alive: bool) -> Level:
    made = Level(depth)
    if not alive:
        made.end()
    return made


def _geometry(dtype: str, shape: list[int], strides: list[int], offset: int, conj: bool) -> TensorMeta:
    made = TensorMeta.__new__(TensorMeta)
    made.shape, made.dtype, made.strides = Size(shape), dtypes.by_name(dtype), tuple(strides)
    made.offset, made.conj = offset, conj
    return made
