"""Gradient edges and the nodes that users hold: `torch.autograd.graph.GradientEdge` and its kin.

Ops take tensors and sessions name tensors, so an edge is passed as a *stand-in*: a tensor of the edge's shape
and dtype over one element of memory. On a server it holds the edge; on a mirror the node holds the stand-in,
which finds the node by a weak reference, so that there is no cycle. A node reached through ``next_functions``
gets a stand-in when something needs one; until then it keeps the way to it.
Source: https://pytorch.org/docs/stable/autograd.html#autograd-graph
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data import Meta, ambient, dtypes, state
from ..declare import shown, stateful
from ..schema import Histories, Pass, named
from ..tensor import (
    BODY,
    SAVED,
    AccumulateGrad,
    Edge,
    Node,
    Packed,
    Saved,
    Tensor,
    detached,
    edge_of,
    saved_value,
)
from .accumulate import accumulate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..tensor import Geometry


class GradientEdge(NamedTuple):
    """Where the gradient of a tensor goes: output `output_nr` of `node`.

    An edge stands for its tensor in `autograd.backward` and `autograd.grad`, among roots and inputs. The node
    keeps the graph behind it alive: `ownership_token` is for those of PyTorch's nodes that do not.
    """

    node: Node
    output_nr: int
    ownership_token: Any = None


class Way(NamedTuple):
    """How a node is reached: from the node of a stand-in, or of another way, through an input slot; without
    a slot it is the same node.
    """

    before: Tensor | Way
    slot: int | None


class Look:
    """What is known of a node's output since somebody looked at it."""

    __slots__ = ("geometry", "stand_in", "way")

    def __init__(self, geometry: Geometry | None) -> None:
        self.geometry = geometry
        self.stand_in: Tensor | None = None
        self.way: Way | None = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The gradient edge of a tensor (torch.autograd.graph.get_gradient_edge). RuntimeError where it needs no
    gradient.
    """
    found = edge_of(tensor) if tensor.requires_grad else None
    if found is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients"
        )
    look(tensor, found.node, found.nr)
    return GradientEdge(found.node, found.nr)


def stand_in(node: Node, nr: int = 0) -> Tensor:
    """The stand-in for output `nr` of a node. RuntimeError where nothing is known of that output."""
    looks = node.looks or {}
    look: Look | None = looks.get(nr)
    if look is not None and look.stand_in is not None:
        return look.stand_in
    geometry = node.geometries.get(nr, None if look is None else look.geometry)
    if geometry is None and not 0 <= nr < node.width:
        raise IndexError("tuple index out of range")
    if geometry is None:
        raise RuntimeError(f"what output {nr} of {node.short_name()} is like is not known: ask its tensor")
    listener = node.backend.listener
    if listener is None:
        return _make(Edge(node, nr), geometry)
    if look is None:
        if not looks:
            raise RuntimeError(f"{node.short_name()} was not reached from a tensor of the session")
        look = looks[nr] = Look(geometry)
        look.way = Way(stand_in(node, next(iter(looks))), None)
    slots: list[int] = []
    at: Tensor | Way | None = look.way
    while isinstance(at, Way):
        if at.slot is not None:
            slots.append(at.slot)
        at = at.before
    # The nodes on the way may be gone here: the op's own rule, which walks it, is for the other side.
    attrs = {"path": tuple(slots[::-1]), "output_nr": nr}
    made: Tensor = shown(listener, edge_behind, (at,), attrs, _make, Edge(node, nr), geometry)
    look.stand_in, look.way = made, None
    return made


def tensor_of(x: Any) -> Any:
    """A gradient edge's stand-in; anything else as it is."""
    return stand_in(x.node, x.output_nr) if isinstance(x, GradientEdge) else x


#: classes of nodes that users looked at: the same class, by the name of the node
_NAMED: dict[tuple[type[Node], str], type[Node]] = {}


def name_class(node: Node) -> None:
    """Give a node that a user looks at a class of its name, as PyTorch's nodes have: ``type(t.grad_fn)``."""
    kind, name = type(node), node.short_name()
    if kind.__name__ != name:
        made = _NAMED.get((kind, name))
        if made is None:
            made = _NAMED[kind, name] = type(name, (kind,), {"__doc__": kind.__doc__})
        node.__class__ = made


def look(t: Tensor, node: Node, nr: int | None = None) -> None:
    """A user looked at the node of `t`: note what is known of it; over a session, make it known there."""
    at = t._nr if nr is None else nr
    if state.depth or (node.looks is not None and at in node.looks):
        return
    name_class(node)
    look = Look((t.shape, t.dtype))
    if node.backend.listener is not None:
        look.stand_in = named.edge(t)
    if node.looks is None:
        node.looks = {}
    node.looks[at] = look


def forget_look(t: Tensor) -> None:
    """`t` never came to be. Where it stood for an edge, the node is looked at anew."""
    edge = None if t._stands is None else t._stands()
    looks = None if edge is None else edge.node.looks
    if edge is not None and looks and edge.nr in looks and looks[edge.nr].stand_in is t:
        del looks[edge.nr]


def look_behind(node: Node, slot: int, target: Edge) -> None:
    """A user looked from a node at one behind it."""
    behind = target.node
    if behind.looks is not None and target.nr in behind.looks:
        return
    name_class(behind)
    look = Look(node.behind(slot))
    if node.backend.listener is not None and node.looks:
        nearest = next(iter(node.looks.values()))
        before = nearest.way if nearest.stand_in is None else nearest.stand_in
        if before is not None:
            look.way = Way(before, slot)
    if behind.looks is None:
        behind.looks = {}
    behind.looks[target.nr] = look


class _Weak:
    """Finds an edge as long as something else holds its node."""

    __slots__ = ("_node", "_nr")

    def __init__(self, edge: Edge) -> None:
        self._node = weakref.ref(edge.node)
        self._nr = edge.nr

    def __call__(self) -> Edge | None:
        node = self._node()
        return None if node is None else Edge(node, self._nr)


def _make(edge: Edge, geometry: Geometry) -> Tensor:
    """A stand-in of that geometry."""
    shape, dtype = geometry
    backend = edge.node.backend
    if backend.is_meta:
        zero = backend.empty(Meta((), dtype))
    else:
        zero = backend.from_array(np.zeros((), dtype.np), dtype)
    out = backend.view(zero, Meta(tuple(shape), dtype, (0,) * len(shape)))
    out._requires_grad = True
    strong: Callable[[], Edge | None] = lambda: edge  # noqa: E731 - the other branch is no function
    out._stands = strong if backend.listener is None else _Weak(edge)
    return out


def _at(t: Tensor) -> Edge:
    """The edge of a stand-in, or of any tensor."""
    found = edge_of(t)
    if found is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients"
        )
    return found


edge = stateful(
    "edge(Tensor input) -> Tensor",
    body=lambda input: _make(_at(input), (input.shape, input.dtype)),
    traced=False,
    doc="""A stand-in for the gradient edge of `input`: a tensor that `backward` and `grad` take, among roots
    and inputs, for the place where the gradient of `input` goes.

    It keeps the graph behind `input` alive, and not `input`. See torch.autograd.graph.get_gradient_edge.
    """,
    keeps_inputs=False,
    wide=False,
    histories=Histories.NONE,
)


def _with_history(input: Tensor, edge: Tensor) -> Tensor:
    at, out = _at(edge), detached(input)
    if isinstance(at.node, AccumulateGrad):
        out._requires_grad, out._acc = True, weakref.ref(at.node)
    else:
        out._fn, out._nr = at.node, at.nr
    return out


with_history = stateful(
    "with_history(Tensor input, Tensor edge) -> Tensor",
    body=_with_history,
    traced=False,
    doc="An alias of `input` whose gradient goes where `edge` says: what was unpacked, as it was packed.",
    wide=False,
    histories=Histories.NONE,
)


def _behind(edge: Tensor, path: Sequence[int], output_nr: int | None) -> Tensor:
    at, geometry = _at(edge), (edge.shape, edge.dtype)
    for slot in path:
        node = at.node
        found = node.edges[slot] if 0 <= slot < len(node.edges) else None
        if found is None:
            raise RuntimeError(f"no gradient goes through slot {slot} of {node.short_name()}")
        seen = node.behind(slot)
        if seen is None:
            raise RuntimeError(f"what goes through slot {slot} of {node.short_name()} has no known shape")
        at, geometry = found, seen
    if output_nr is not None and output_nr != at.nr:
        if output_nr not in at.node.geometries:
            raise RuntimeError(f"{at.node.short_name()} has no output {output_nr}")
        at, geometry = Edge(at.node, output_nr), at.node.geometries[output_nr]
    return _make(at, geometry)


edge_behind = stateful(
    "edge_behind(Tensor edge, int[] path=[], *, int? output_nr=None) -> Tensor",
    body=_behind,
    traced=False,
    doc="""A stand-in for an edge behind another: through the input slots of `path`, one node after the other;
    at the last, of its output `output_nr`.
    """,
    wide=False,
    histories=Histories.NONE,
)


def _saved(edge: Tensor, name: str, index: int | None) -> Tensor:
    node = _at(edge).node
    found = getattr(node, f"_saved_{name}")
    if index is not None and isinstance(found, (list, tuple)) and 0 <= index < len(found):
        found = found[index]
    if not isinstance(found, Tensor):
        raise RuntimeError(f"_saved_{name} of {node.short_name()} is not a tensor")
    return found


saved = stateful(
    "saved(Tensor edge, str name, *, int? index=None) -> Tensor",
    body=_saved,
    traced=False,
    doc="""What the node of `edge` saved under that name (``_saved_<name>``), a tensor; of a list, the one at
    `index`.
    """,
    wide=False,
    histories=Histories.NONE,
)


def _call(
    edge: Tensor, gradients: Sequence[Tensor | None], unpacked: Sequence[Tensor] | None
) -> tuple[Tensor | None, ...]:
    return _run(_at(edge).node, gradients, unpacked)


def _run(
    node: Node, gradients: Sequence[Tensor | None], unpacked: Sequence[Tensor] | None
) -> tuple[Tensor | None, ...]:
    if len(gradients) != node.width:
        raise TypeError(f"expected {node.width} arguments, got {len(gradients)} instead")
    if isinstance(node, AccumulateGrad):
        box = list(gradients)
        if box[0] is not None and node.variable._requires_grad:
            with node.lock:
                accumulate(node.variable, box, False)
        return ()
    if all(g is None for g in gradients):
        return (None,) * len(node.edges)
    if unpacked:
        node.fill(unpacked)
    return tuple(node.apply(list(gradients)))


call_node = stateful(
    "call_node(Tensor edge, Tensor?[] gradients, Tensor[] unpacked=None) -> Tensor?[]",
    body=_call,
    traced=False,
    doc="""Run the node of `edge` on gradients of its outputs; gradients of its inputs, None where none is
    needed. Nothing behind it runs, and it keeps what it saved. `unpacked`: what the caller's hooks give for
    the tensors that it saved packed.
    """,
    backward_pass=Pass.NODE,
)


def called(self: Node, *gradients: Any) -> Any:
    """Run this node on gradients of its outputs: the gradients of its inputs, a tuple where there are
    several. TypeError for a wrong number of arguments, one that is no tensor, and the node of a Function.
    """
    if self.waits(BODY):
        raise TypeError(f"'{self.short_name()}' object is not callable")
    if len(gradients) != self.width:
        raise TypeError(f"expected {self.width} arguments, got {len(gradients)} instead")
    for i, g in enumerate(gradients):
        if g is not None and not isinstance(g, Tensor):
            raise TypeError(f"argument {i} is not a Variable")
    unpacked = self.unpacked() if self.waits(SAVED) else None
    found: tuple[Any, ...]
    if self.backend.listener is not None and not state.depth:
        found = named.call_node(stand_in(self), list(gradients), unpacked)
    else:
        found = _run(self, gradients, unpacked)
    return found[0] if len(found) == 1 else found


_NUMBERS = (bool, int, float, complex)
_WIDEST = {bool: dtypes.bool_, int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128}


def saved_entry(node: Any, name: str, entry: Any) -> Any:
    """What a node saved, as a user sees it; over a session, with a name there."""
    if isinstance(entry, list):
        return tuple(_one_saved(node, name, e, i) for i, e in enumerate(entry))
    return _one_saved(node, name, entry, None)


def _one_saved(node: Any, name: str, entry: Any, index: int | None) -> Any:
    listener = node.backend.listener
    if isinstance(entry, _NUMBERS) and node.wraps(name):
        # PyTorch made a tensor of the number, in the widest dtype of its kind, and saved that.
        with ambient(backend=node.backend, grad=False):
            return named.full([], entry, dtype=_WIDEST[type(entry)])
    if isinstance(entry, Packed):
        return _unpacked(node, entry)
    if listener is None or state.depth or not isinstance(entry, Saved):
        return saved_value(entry, node)
    entry.check(node)
    found = entry.source()
    if found is not None and not entry.is_output and listener.knows(found):
        return found
    return named.saved(stand_in(node), name, index=index)


def _unpacked(node: Any, entry: Packed) -> Any:
    """What the unpack hook gives, with the history of what was packed."""
    found, edge = entry.open(), entry.edge(node)
    if edge is None:
        return found
    if edge.node is node:
        return named.with_history(found, stand_in(node, edge.nr))
    for slot, e in enumerate(node.edges):
        if e is not None and (e.node, e.nr) == (edge.node, edge.nr):
            look_behind(node, slot, e)
            return named.with_history(found, stand_in(e.node, e.nr))
    return found
