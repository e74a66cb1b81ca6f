"""Whether rows that a stranger may have written are what `freeze` writes: everything is looked at before
anything is made.

Shapes lie within their memory, numbers name rows that are there, graphs end, and a node has what its op's
signature says. What the elements are is not looked at: kernels take any.
"""

from __future__ import annotations

import itertools
from math import prod
from typing import TYPE_CHECKING, Any

from ..data import dtypes
from ..graph import META, OUT, OUTS, VALUE, recipe_of
from ..schema import GREATEST, REGISTRY, check_attrs
from . import values
from .decode import BadFrozen
from .rows import CONJUGATE, FORMAT, NONE, REQUIRES, RETAINS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..data import DType
    from ..schema import Op
    from .rows import Frozen, NodeRow, TensorRow

#: most dimensions of a tensor, and nesting of a value
DIMS, DEPTH = 64, 64
#: outputs of one node
_WIDTH = 1 << 16


def check(frozen: Frozen) -> None:
    """Raises BadFrozen, which says which row is wrong, for rows that `thaw` should not see."""
    try:
        _Checking(frozen).all()
    except BadFrozen:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as e:
        raise BadFrozen(f"the rows do not go together: {type(e).__name__}: {e}") from e


def need(true: bool, what: str) -> None:
    """BadFrozen, unless it is `true`."""
    if not true:
        raise BadFrozen(what)


def count(n: Any, below: int, what: str, least: int = 0) -> int:
    """`n`, if it is a whole number from `least` on and below `below`."""
    need(type(n) is int and least <= n < below, f"{what} is {n!r:.40}")
    return n  # type: ignore[no-any-return]


def dtype_of(name: Any) -> DType:
    """The dtype of a name."""
    need(type(name) is str and name in _DTYPES, f"no dtype is named {name!r:.40}")
    return dtypes.by_name(name)


_DTYPES = frozenset(
    ("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16",
     "float32", "float64", "complex64", "complex128")
)  # fmt: skip


def reach(shape: Sequence[int], strides: Sequence[int], offset: int, itemsize: int) -> int:
    """The bytes of memory that elements lie in, counted from its beginning. Raises BadFrozen."""
    need(len(shape) == len(strides) and len(shape) <= DIMS, "a shape and its strides do not fit")
    for n in itertools.chain(shape, strides, (offset,)):
        count(n, GREATEST, "a size, stride or offset")
    need(prod(shape) * itemsize <= GREATEST, "a tensor is too large")
    if not prod(shape):
        return offset * itemsize
    return (offset + 1 + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))) * itemsize


class _Checking:
    def __init__(self, frozen: Frozen) -> None:
        self._graph, self._memory = frozen.graph, frozen.memory
        self._tensors, self._nodes = frozen.graph.tensors, frozen.graph.nodes
        #: per node those behind it
        self._behind: list[list[int]] = []
        #: storages that hold 0 and 1 alone
        self._bools: set[int] = set()

    def all(self) -> None:
        graph = self._graph
        need(graph.format == FORMAT, f"format {graph.format} is not {FORMAT}, which this version reads")
        need(len(self._memory) == len(graph.storages), "there are not as many storages as arrays")
        count(graph.order, len(self._nodes) + len(self._tensors) + 1, "the places in the order")
        for at in graph.roots.values():
            self._tensor_at(at)
        for storage, flat in zip(graph.storages, self._memory, strict=True):
            need(storage.nbytes == flat.nbytes, "a storage has other bytes than it says")
            dtype = dtype_of(storage.dtype)
            need(
                reach(storage.shape, storage.strides, 0, dtype.itemsize) <= flat.nbytes,
                "a storage is larger than its bytes",
            )
        for n, _ in graph.counters:
            count(n, GREATEST, "a version")
        for depth, _ in graph.levels:
            count(depth, DEPTH, "a level")
        for g in graph.geometries:
            reach(g.shape, g.strides, g.offset, dtype_of(g.dtype).itemsize)
            need(not g.conj or dtype_of(g.dtype).is_complex, "a conjugate is not complex")
        for at, tensor in enumerate(self._tensors):
            self._check(f"tensor {at}", self._tensor, at, tensor)
        for at, node in enumerate(self._nodes):
            self._check(f"node {at}", self._node, at, node)
        self._no_circle()

    def _check(self, name: str, what: Callable[[int, Any], None], at: int, row: Any) -> None:
        try:
            what(at, row)
        except BadFrozen as error:
            raise BadFrozen(f"{name}: {error}") from None

    # -- tensors -----------------------------------------------------------------------------------

    def _tensor_at(self, at: Any, least: int = 0) -> int:
        return count(at, len(self._tensors), "the number of a tensor", least)

    def _node_at(self, at: Any, least: int = 0) -> int:
        return count(at, len(self._nodes), "the number of a node", least)

    def _tensor(self, at: int, t: TensorRow) -> None:
        dtype = dtype_of(t.dtype)
        count(t.storage, len(self._memory), "the number of a storage")
        count(t.counter, len(self._graph.counters), "the number of a counter")
        end = reach(t.shape, t.strides, t.offset, dtype.itemsize)
        flat = self._memory[t.storage]
        need(end <= flat.nbytes, "its elements lie outside of its storage")
        if t.dtype == "bool" and t.storage not in self._bools:
            need(not flat.size or flat.max() <= 1, "a bool is neither 0 nor 1")
            self._bools.add(t.storage)
        count(t.flags, 1 + (REQUIRES | RETAINS | CONJUGATE), "a set of flags")
        need(not t.flags & CONJUGATE or dtype.is_complex, "a conjugate is not complex")
        differentiable = dtype.is_floating_point or dtype.is_complex
        need(differentiable or not t.flags & REQUIRES, f"a tensor of {t.dtype} has no gradient")
        self._output(t.fn, t.nr)
        need(t.fn == NONE or self._nodes[t.fn].kind != "AccumulateGrad", "a leaf's node made it")
        self._gradient(t)
        if self._tensor_at(t.base, NONE) != NONE:
            base = self._tensors[t.base]
            need(t.base != at and base.base == NONE, "a view is the base of a view")
            need(base.storage == t.storage, "a view lies in other memory than its base")
        count(t.view_version, GREATEST, "a version")
        if self._node_at(t.accumulator, NONE) != NONE:
            leaf = self._nodes[t.accumulator]
            need(leaf.kind == "AccumulateGrad" and leaf.data == [at], "its accumulator is another's")
        if t.more is not None:
            self._rare(t.more)

    def _gradient(self, t: TensorRow) -> None:
        if self._tensor_at(t.grad, NONE) == NONE:
            return
        grad = self._tensors[t.grad]
        need(grad is not t, "it is its own gradient")
        need(grad.shape == t.shape, "its gradient has another shape")
        told = t.dtype if t.more is None else t.more.get("grad_dtype", t.dtype)
        need(told is None or grad.dtype == told, "its gradient has another dtype")

    def _rare(self, more: dict[str, Any]) -> None:
        need(more.keys() <= _RARE, "nothing is known of some of what it has")
        if (creation := more.get("creation")) is not None:
            need(type(creation) in (int, str), "how it was made is not told")
        if more.get("grad_dtype") is not None:
            dtype_of(more["grad_dtype"])
        if "cut" in more:
            count(more["cut"], self._graph.order, "a place in the order")
        if more.get("stands") is not None:
            self._output(*more["stands"])
        for level, tangent in more.get("tangents", ()):
            count(level, len(self._graph.levels), "the number of a level")
            self._tensor_at(tangent, NONE)
        for kind in ("hooks", "post_hooks"):
            _texts(more.get(kind, []))
        if "level" in more:
            count(more["level"], len(self._graph.levels), "the number of a level")
        if "holds" in more:
            self._value(more["holds"], plain=True)

    # -- nodes -------------------------------------------------------------------------------------

    def _output(self, node: Any, nr: Any) -> None:
        """Output `nr` of a node, or none."""
        if self._node_at(node, NONE) == NONE:
            need(nr == 0, "no node has an output")
        else:
            count(nr, count(self._nodes[node].width, _WIDTH, "the number of outputs", 1), "an output")

    def _geometry_at(self, at: Any) -> int:
        return count(at, len(self._graph.geometries), "the number of a geometry")

    def _node(self, at: int, row: NodeRow) -> None:
        kind = _KINDS.get(row.kind)
        need(kind is not None, f"there is no kind of node {row.kind!r:.40}")
        assert kind is not None
        count(row.width, _WIDTH, "the number of outputs", 1)
        leaf = row.kind == "AccumulateGrad"
        count(row.order, self._graph.order, "a place in the order", NONE)
        need(leaf == (row.order == NONE), "its place in the order is missing")
        need(not len(row.edges) % 2, "an edge has no output")
        edges = list(zip(row.edges[::2], row.edges[1::2], strict=True))
        for edge in edges:
            self._output(*edge)
        self._behind.append([node for node, _ in edges if node != NONE])
        kind(self, at, row, edges)
        if row.more is not None:
            self._seldom(row, row.more)

    def _seldom(self, row: NodeRow, more: dict[str, Any]) -> None:
        need(more.keys() <= _SELDOM, "nothing is known of some of what it has")
        for nr, names in more.get("tensor_hooks", ()):
            count(nr, row.width, "an output")
            _texts(names)
        for kind in ("pre_hooks", "post_hooks"):
            _texts(more.get(kind, []))
        for nr, tensor in more.get("retainers", ()):
            count(nr, row.width, "an output")
            self._tensor_at(tensor, NONE)
        if "metadata" in more:
            self._value(more["metadata"], plain=True)
        for nr, look in more.get("looks", ()):
            count(nr, row.width, "an output")
            self._value(look, plain=True)
        for nr, *shape in more.get("shapes", ()):
            count(nr, row.width, "an output")
            _sizes(shape)
        for nr, dtype, *shape in more.get("geometries", ()):
            count(nr, row.width, "an output")
            dtype_of(dtype)
            _sizes(shape)
        if "site" in more:
            file, line = more["site"]
            need(type(file) is str and count(line, GREATEST, "a line") >= 0, "a line has no file")

    def _leaf(self, at: int, row: NodeRow, edges: list[Any]) -> None:
        (variable,) = row.data
        self._tensor_at(variable)
        need(not edges and row.width == 1, "a leaf's node has edges")

    def _op(self, at: int, row: NodeRow, edges: list[Any]) -> None:
        name, params, label, attrs, inputs, wants, saved, keeps, packed = row.data
        op = REGISTRY.get(name) if type(name) is str else None
        if op is None or not op.rules:
            raise BadFrozen(f"{name!r:.80} is no op with a gradient")
        params = op.edge_params if params is None else tuple(params)
        need(params == tuple(p for p in op.edge_params if p in params), f"{op.name} has other inputs")
        need(type(label) is str and type(keeps) is bool and type(packed) is bool, "a mark is missing")
        need(not label or label in op.number_nodes.values(), f"{op.name} has no node {label!r:.40}")
        forms = (op.schema.returns, *op.schema.otherwise)
        varies = any(r.kind.endswith("[]") for form in forms for r in form)
        need(varies or row.width <= max(map(len, forms), default=1), f"{op.name} has fewer outputs")
        need(len(inputs) == len(params) == len(wants), f"{op.name} has other inputs")
        need(all(type(want) is bool for want in wants), "which gradients it wants is not told")
        slots = 0
        for param, m in zip(params, inputs, strict=True):
            listed = "[" in op.params[param].kind
            need(isinstance(m, list) == listed or m == NONE, f"{op.name}: {param} is no list, or one")
            for one in m if isinstance(m, list) else [m]:
                need(one == NONE or self._geometry_at(one) >= 0, "a geometry is missing")
            slots += len(m) if isinstance(m, list) else 1
        need(len(edges) == slots, f"{op.name} has {slots} inputs, and {len(edges)} edges")
        self._attributes(op, attrs)
        if saved is not None:
            self._saved(op, params, tuple(wants), inputs, saved)

    def _attributes(self, op: Op, attrs: list[Any]) -> None:
        found = {}
        for name, value in attrs:
            need(name in op.params and name not in found, f"{op.name} has no attribute {name!r:.40}")
            self._value(value, plain=False)
            found[name] = values.decode(value, lambda tag, rest: (tag, *rest))
        plain = [p for p, _, _ in op.schema.checked]
        need(all(p.name in found for p in plain), f"{op.name} lacks an attribute")
        check_attrs(op.schema, found)

    def _saved(
        self, op: Op, params: tuple[str, ...], wants: tuple[bool, ...], inputs: list[Any], saved: list[Any]
    ) -> None:
        asked = {name for name, _, _ in recipe_of(op, params, wants).saves}
        found = dict(saved)
        need(found.keys() >= asked and len(found) == len(saved), f"{op.name} keeps other values")
        kinds = {name: kind for name, _, kind in recipe_of(op, params, wants).saves}
        for name, value in saved:
            need(type(name) is str, "a kept value has no name")
            self._value(value, plain=False)
            if name in kinds:
                need(_kept(op, name, kinds[name], value), f"{op.name} keeps another {name}")
            if name not in params or value is None:
                continue
            given = inputs[params.index(name)]
            listed = isinstance(given, list)
            kept = value[1:] if listed else [value]
            for one, m in zip(kept, given if listed else [given], strict=True):
                if m != NONE and isinstance(one, list) and one[0] == "saved":
                    meta, t = self._graph.geometries[m], self._tensors[one[1]]
                    need(meta.dtype == t.dtype, f"{op.name} keeps another {name} than it was given")

    def _slices(self, at: int, row: NodeRow, edges: list[Any]) -> None:
        fn, base, view = row.data
        self._written(fn, "OpNode", base, view)
        if fn != NONE:
            inner = self._nodes[fn]
            need(len(inner.edges) == len(row.edges), "a written view has other edges than what wrote it")
            self._behind[at].append(fn)

    def _dirty(self, at: int, row: NodeRow, edges: list[Any]) -> None:
        fn, place, base, view = row.data
        self._written(fn, "CustomNode", base, view)
        if fn != NONE:
            count(place, len(self._nodes[fn].edges) // 2, "the place of the view")
            self._behind[at].append(fn)

    def _written(self, fn: Any, kind: str, base: Any, view: Any) -> None:
        if self._node_at(fn, NONE) != NONE:
            need(self._nodes[fn].kind == kind, f"a written view's node is a {self._nodes[fn].kind}")
        geometries = self._graph.geometries
        whole, part = geometries[self._geometry_at(base)], geometries[self._geometry_at(view)]
        size = dtype_of(whole.dtype).itemsize
        room = reach(whole.shape, whole.strides, whole.offset, size)
        need(reach(part.shape, part.strides, part.offset, dtype_of(part.dtype).itemsize) <= room,
             "a written view lies outside of its base")  # fmt: skip

    def _custom(self, at: int, row: NodeRow, edges: list[Any]) -> None:
        label, metas, outputs, arguments = row.data
        need(type(label) is str, "a node has no name")
        for nr, m in metas:
            count(nr, row.width, "an output")
            self._geometry_at(m)
        for entry in () if outputs is None else outputs:
            need(entry[0] == "saved", "an output is not kept")
            self._value(entry, plain=False)
        for dtype, *shape in arguments:
            dtype_of(dtype)
            _sizes(shape)

    def _error(self, at: int, row: NodeRow, edges: list[Any]) -> None:
        (message,) = row.data
        need(type(message) is str, "an error has no message")

    def _no_circle(self) -> None:
        """Gradients go round in none."""
        waiting = [0] * len(self._nodes)
        for node in itertools.chain.from_iterable(self._behind):
            waiting[node] += 1
        free = [at for at, n in enumerate(waiting) if not n]
        done = 0
        while free:
            done += 1
            for node in self._behind[free.pop()]:
                waiting[node] -= 1
                if not waiting[node]:
                    free.append(node)
        need(done == len(self._nodes), "the graph has a circle")

    # -- values ------------------------------------------------------------------------------------

    def _value(self, x: Any, plain: bool, depth: int = 0) -> None:
        """What `values.encode` writes; not `plain`: also tensors and geometries."""
        need(depth < DEPTH, "a value is nested too deep")
        if type(x) is not list:
            need(x is None or type(x) in (bool, int, float, str), "a value is of no known class")
            return
        need(bool(x) and type(x[0]) is str, "a value has no tag")
        tag, *rest = x
        if tag in ("list", "tuple", "complex", "slice"):
            for e in rest:
                self._value(e, plain, depth + 1)
        elif tag == "dict":
            for key, e in rest:
                need(type(key) in (str, int, bool), "a key is of no known class")
                self._value(e, plain, depth + 1)
        elif tag == "size":
            _sizes(rest)
        elif tag in ("dtype", "float", "int", "...", "format", "device"):
            need(all(type(e) is str for e in rest), "a value is not text")
        elif plain:
            raise BadFrozen(f"nothing is known of values with the tag {tag!r:.40}")
        else:
            self._entry(tag, rest)
        if tag in _LENGTHS:
            need(len(rest) == _LENGTHS[tag], f"a value with the tag {tag} has {len(rest)} parts")

    def _entry(self, tag: str, rest: list[Any]) -> None:
        if tag == "saved":
            tensor, version, output, nr, source = rest
            self._tensor_at(tensor)
            count(version, GREATEST, "a version")
            need(type(output) is bool, "a mark is missing")
            count(nr, _WIDTH, "an output")
            self._tensor_at(source, NONE)
        elif tag == "geometry":
            self._geometry_at(rest[0])
        elif tag == "tensor":
            self._tensor_at(rest[0])
        elif tag == "packed":
            nr, node, at = rest
            need(nr is None or count(nr, _WIDTH, "an output") >= 0, "an output is missing")
            self._output(node, at)
        else:
            raise BadFrozen(f"nothing is known of values with the tag {tag!r:.40}")


def _kept(op: Op, name: str, kind: int, value: Any) -> bool:
    """Whether a node may keep such a value under a name that its rules ask for."""
    if isinstance(value, list) and value[:1] == ["list"]:
        listed = kind == OUTS or (kind != OUT and "[]" in op.params[name.removesuffix("_meta")].kind)
        return listed and all(_kept(op, name, kind, e) or e is None for e in value[1:])
    if isinstance(value, list) and value[0] in ("saved", "packed", "geometry", "tensor"):
        return bool((value[0] == "geometry") == (kind == META))
    return kind in (VALUE, META) and name.removesuffix("_meta") in op.slot_of


def _sizes(shape: Iterable[Any]) -> None:
    shape = list(shape)
    need(len(shape) <= DIMS, "a shape has too many dimensions")
    for n in shape:
        count(n, GREATEST, "a size")
    need(prod(shape) < GREATEST, "a shape is too large")


def _texts(names: Any) -> None:
    need(type(names) is list and all(type(n) is str for n in names), "a hook has no name")


_LENGTHS = {
    "complex": 2, "slice": 3, "dtype": 1, "float": 1, "int": 1, "...": 0, "format": 1, "device": 1,
    "geometry": 1, "tensor": 1,
}  # fmt: skip
_RARE = frozenset(
    ("creation", "grad_dtype", "cut", "stands", "tangents", "hooks", "post_hooks", "level", "holds")
)
_SELDOM = frozenset(
    ("tensor_hooks", "pre_hooks", "post_hooks", "retainers", "metadata", "looks", "shapes", "geometries",
     "site")
)  # fmt: skip
_KINDS: dict[str, Callable[[_Checking, int, NodeRow, list[Any]], None]] = {
    "OpNode": _Checking._op,
    "AccumulateGrad": _Checking._leaf,
    "CopySlices": _Checking._slices,
    "CustomNode": _Checking._custom,
    "DirtySlices": _Checking._dirty,
    "DelayedError": _Checking._error,
}
