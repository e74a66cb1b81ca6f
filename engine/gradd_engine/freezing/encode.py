"""Tensors and their graphs as rows.

One walk in breadth over what holds what: a row is written where its tensor or node is met, and names others
by the number that they get when they are first seen. What is only known weakly (the tensor that was saved,
one that retains its gradient) is looked up at the end: it is there if something holds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backward import GraphTask
from ..custom import BackwardNode, CustomNode, DelayedError, DirtySlices
from ..data import from_numpy
from ..graph import CopySlices, Level, OpNode
from ..tensor import AccumulateGrad, Node, Packed, Saved, Tensor, TensorMeta, node_of
from . import values
from .collector import uncollected
from .rows import (
    CONJUGATE,
    FORMAT,
    NONE,
    REQUIRES,
    RETAINS,
    CannotFreeze,
    Frozen,
    FrozenGraph,
    GeometryRow,
    NodeRow,
    StorageRow,
    TensorRow,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..tensor import Edge, Storage


def freeze(roots: Mapping[str, Tensor], called: Callable[[Any], str | None] = lambda hook: None) -> Frozen:
    """Write down `roots` and all that they hold: memory, gradients, graphs. Takes time and room for what is
    reachable. Graphs that a plan left folded are unfolded; nothing else changes.

    `called`: the name of a hook, by which `thaw` asks for it again; None where it has none.

    Raises CannotFreeze: a pass is under way, or something is Python of this process (a hook without a name,
    an `autograd.Function`).
    """
    with uncollected():
        return _frozen(roots, _Walk(called))


def _frozen(roots: Mapping[str, Tensor], walk: _Walk) -> Frozen:
    at = {name: walk.tensor(t) for name, t in roots.items()}
    walk.run()
    graph = FrozenGraph(
        FORMAT,
        at,
        [_storage(s) for s in walk.storages.held],
        [(c.n, c.inference) for c in walk.counters.held],
        walk.geometry_rows,
        [(level.depth, level.alive) for level in walk.levels.held],
        walk.tensor_rows,
        walk.node_rows,
        walk.rank(),
    )
    return Frozen(graph, [s.flat for s in walk.storages.held])


def _storage(s: Storage) -> StorageRow:
    a = s.array
    strides = [n // a.itemsize for n in a.strides]
    return StorageRow(s.nbytes, from_numpy(a.dtype).name, list(a.shape), strides)


class _Numbers:
    """Objects in the order in which they were first seen."""

    __slots__ = ("_at", "held")

    def __init__(self) -> None:
        self.held: list[Any] = []
        self._at: dict[int, int] = {}

    def of(self, x: Any) -> int:
        """The number of `x`, its own from now on."""
        at = self._at.get(id(x))
        if at is None:
            at = self._at[id(x)] = len(self.held)
            self.held.append(x)
        return at

    def known(self, x: Any) -> int:
        """The number of `x`, NONE where it has none."""
        return NONE if x is None else self._at.get(id(x), NONE)


class _Walk:
    """Everything that was seen, and the rows of what was walked."""

    def __init__(self, called: Callable[[Any], str | None]) -> None:
        self._called = called
        self._tensors, self._nodes = _Numbers(), _Numbers()
        self.storages, self.counters, self.levels = _Numbers(), _Numbers(), _Numbers()
        self.tensor_rows: list[TensorRow] = []
        self.node_rows: list[NodeRow] = []
        self.geometry_rows: list[GeometryRow] = []
        self._geometries: dict[Any, int] = {}
        #: by identity of a list of geometries, which nodes of one kind share: what stands for it
        self._inputs: dict[int, tuple[Any, Any]] = {}
        #: where numbers of tensors that are weakly known are to be put
        self._late: list[tuple[list[Any], int, Any]] = []
        #: rows of tensors that detach_() cut, which have a place in the order too
        self._cuts: list[tuple[dict[str, Any], int]] = []

    def tensor(self, t: Tensor | None) -> int:
        """The number of a tensor."""
        return NONE if t is None else self._tensors.of(t)

    def node(self, node: Node | None) -> int:
        """The number of a node."""
        return NONE if node is None else self._nodes.of(node)

    def run(self) -> None:
        """Write the rows of all that can be reached."""
        tensors, nodes = self._tensors.held, self._nodes.held
        while len(self.tensor_rows) < len(tensors) or len(self.node_rows) < len(nodes):
            while len(self.tensor_rows) < len(tensors):
                self.tensor_rows.append(self._tensor_row(tensors[len(self.tensor_rows)]))
            while len(self.node_rows) < len(nodes):
                self.node_rows.append(self._node_row(nodes[len(self.node_rows)]))
        for row, t in zip(self.tensor_rows, tensors, strict=True):
            if t._acc is not None:
                row.accumulator = self._nodes.known(t._acc())
        for where, at, ref in self._late:
            where[at] = self._tensors.known(ref())

    def rank(self) -> int:
        """Give rows the places of their sequence numbers in the order of all; how many there are."""
        found = {n for _, n in self._cuts}
        found.update(row.order for row in self.node_rows if row.order != NONE)
        place = {n: i for i, n in enumerate(sorted(found))}
        for row in self.node_rows:
            if row.order != NONE:
                row.order = place[row.order]
        for more, n in self._cuts:
            more["cut"] = place[n]
        return len(place)

    # -- tensors -----------------------------------------------------------------------------------

    def _tensor_row(self, t: Tensor) -> TensorRow:
        backend, storage = t.backend, t._storage
        if backend.is_meta or backend.level or storage is None or t.array is None:
            raise CannotFreeze("a tensor has no memory of its own")
        return TensorRow(
            self.storages.of(storage),
            self.counters.of(t._vc),
            t._dtype.name,
            list(t._shape),
            list(t.strides),
            t.offset,
            REQUIRES * t._requires_grad + RETAINS * t._retains + CONJUGATE * t._conj,
            self.node(node_of(t)),
            t._nr,
            self.tensor(t._grad),
            self.tensor(t._base),
            0 if t._base is None else t._view_version,
            NONE,
            self._rare(t) if _RARE & t.__dict__.keys() else None,
        )

    def _rare(self, t: Tensor) -> dict[str, Any] | None:
        more: dict[str, Any] = {}
        if t._creation is not None:
            more["creation"] = t._creation
        if t._grad_dtype is not ...:
            more["grad_dtype"] = None if t._grad_dtype is None else t._grad_dtype.name
        if t._cut:
            more["cut"] = NONE  # `rank` knows
            self._cuts.append((more, t._cut))
        if t._stands is not None:
            edge = t._stands()
            more["stands"] = None if edge is None else [self.node(edge.node), edge.nr]
        if t._tangents:
            more["tangents"] = [[self.levels.of(k), self.tensor(v)] for k, v in t._tangents.items()]
        if t._hooks:
            more["hooks"] = self._names(t._hooks)
        if t._post_hooks:
            more["post_hooks"] = self._names(t._post_hooks)
        held = t._holds
        if isinstance(held, GraphTask):
            raise CannotFreeze("a backward pass is under way")
        if isinstance(held, Level):
            more["level"] = self.levels.of(held)
        elif held is not None:
            more["holds"] = values.encode(held, values.unknown)
        return more or None

    def _names(self, hooks: list[Any]) -> list[str]:
        found = [self._called(hook) for (hook,) in hooks]
        for (hook,), name in zip(hooks, found, strict=True):
            if name is None:
                raise CannotFreeze(f"a hook is a function of this process: {hook!r}")
        return found  # type: ignore[return-value]

    # -- nodes -------------------------------------------------------------------------------------

    def _node_row(self, node: Node) -> NodeRow:
        kind = type(node)
        if kind not in _KINDS and node.looks is not None:
            kind = kind.__bases__[0]  # of its name's own class (`name_class`)
        say = _KINDS.get(kind)
        if say is None or node.whole is not None:
            raise CannotFreeze(_why(node))
        data = say(self, node)
        edges: list[int] = []
        for e in node.edges:
            edges += (NONE, 0) if e is None else (self._nodes.of(e.node), e.nr)
        order = NONE if node.leaf else node.priority
        more = self._seldom(node) if _SELDOM & node.__dict__.keys() else None
        return NodeRow(kind.__name__, order, node.width, edges, data, more)

    def _seldom(self, node: Node) -> dict[str, Any] | None:
        more: dict[str, Any] = {}
        if node.tensor_hooks:
            more["tensor_hooks"] = [[nr, self._names(hooks)] for nr, hooks in node.tensor_hooks.items()]
        if node.pre_hooks:
            more["pre_hooks"] = self._names(node.pre_hooks)
        if node.post_hooks:
            more["post_hooks"] = self._names(node.post_hooks)
        if node.retainers:
            more["retainers"] = [self._later([nr, NONE], 1, ref) for nr, ref in node.retainers.items()]
        if node._metadata:
            more["metadata"] = values.encode(node._metadata, values.unknown)
        if node.looks is not None:
            more["looks"] = [
                [nr, values.encode(look.geometry, values.unknown)] for nr, look in node.looks.items()
            ]
        if node.shapes:
            more["shapes"] = [[nr, *shape] for nr, shape in node.shapes.items()]
        if node.site is not None:
            more["site"] = list(node.site)
        if node.geometries:
            more["geometries"] = [[nr, dtype.name, *shape] for nr, (shape, dtype) in node.geometries.items()]
        return more or None

    def _later(self, row: list[Any], at: int, ref: Any) -> list[Any]:
        """`row`, where the number of a tensor that is weakly known comes at a place."""
        self._late.append((row, at, ref))
        return row

    def _op(self, node: Any) -> list[Any]:
        inputs = self._inputs.get(id(node.inputs))
        if inputs is None:
            # Held, so that no other list takes its identity.
            inputs = self._inputs[id(node.inputs)] = [self._geometry(m) for m in node.inputs], node.inputs
        params = None if node.params == node.op.edge_params else list(node.params)
        attrs = [[name, values.encode(v, self._entry)] for name, v in node.attrs.items()]
        saved = None
        if node.saved is not None:
            saved = [[name, values.encode(e, self._entry)] for name, e in node.saved.items()]
        return [
            node.op.name, params, node._label, attrs, inputs[0], list(node.wants), saved, node.values,
            node.packed,
        ]  # fmt: skip

    def _geometry(self, m: Any) -> Any:
        if m is None:
            return NONE
        if isinstance(m, list):
            return [self._geometry(e) for e in m]
        key = (m.shape, m.dtype, m.strides, m.offset, m.conj)
        at = self._geometries.get(key)
        if at is None:
            at = self._geometries[key] = len(self.geometry_rows)
            self.geometry_rows.append(
                GeometryRow(m.dtype.name, list(m.shape), list(m.strides), m.offset, m.conj)
            )
        return at

    def _entry(self, e: Any) -> list[Any]:
        """What a node keeps, and is no plain value."""
        if isinstance(e, Saved):
            row = ["saved", self.tensor(e.tensor), e.version, e.is_output, e.nr, NONE]
            return self._later(row, 5, e.source)
        if isinstance(e, TensorMeta):
            return ["geometry", self._geometry(e)]
        if isinstance(e, Tensor):
            return ["tensor", self.tensor(e)]
        if isinstance(e, Packed):
            if e.unpack is not None or e.stand_in is not None:
                raise CannotFreeze("a saved tensor is packed by a hook of this process")
            edge: Edge | None = e._edge
            return ["packed", e._nr, *((NONE, 0) if edge is None else (self.node(edge.node), edge.nr))]
        values.unknown(e)
        raise AssertionError

    def _leaf(self, node: Any) -> list[Any]:
        return [self.tensor(node.variable)]

    def _slices(self, node: Any) -> list[Any]:
        return [self.node(node.fn), self._geometry(node.base), self._geometry(node.view)]

    def _custom(self, node: Any) -> list[Any]:
        metas = [[nr, self._geometry(m)] for nr, m in node.metas.items()]
        outputs = None if node.outputs is None else [self._entry(e) for e in node.outputs]
        arguments = [[dtype.name, *shape] for shape, dtype in node.arguments]
        return [node._label, metas, outputs, arguments]

    def _dirty(self, node: Any) -> list[Any]:
        return [self.node(node.fn), node.at, self._geometry(node._base), self._geometry(node._view)]

    def _error(self, node: Any) -> list[Any]:
        return [node._message]


_RARE = frozenset(
    {"_creation", "_grad_dtype", "_cut", "_stands", "_tangents", "_hooks", "_post_hooks", "_holds"}
)
_SELDOM = frozenset(
    {
        "tensor_hooks", "pre_hooks", "post_hooks", "retainers", "_metadata", "looks", "shapes", "geometries",
        "site",
    }
)  # fmt: skip
_KINDS: dict[type[Node], Callable[[_Walk, Any], list[Any]]] = {
    OpNode: _Walk._op,
    AccumulateGrad: _Walk._leaf,
    CopySlices: _Walk._slices,
    CustomNode: _Walk._custom,
    DirtySlices: _Walk._dirty,
    DelayedError: _Walk._error,
}


def _why(node: Node) -> str:
    if node.whole is not None:
        return "a backward pass is under way"
    if isinstance(node, BackwardNode):
        return f"{node.name()} is an autograd.Function of this process"
    return f"a node of class {type(node).__name__} is of this process"
