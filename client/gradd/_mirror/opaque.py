"""Opaque graphs, which the mirror does not know, and correcting mirrors from the server's state."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from gradd_engine.backward import meets_callables
from gradd_engine.data import Meta, Size, dtypes
from gradd_engine.tensor import (
    GRADIENTS,
    POSTHOOKS,
    PREHOOKS,
    AccumulateGrad,
    Edge,
    InferenceCounter,
    Node,
    VersionCounter,
    node_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_engine.tensor import Tensor
    from gradd_protocol.messages import TensorInfo

    from .backend import MirrorBackend, MirrorHost

#: the name of an opaque node
LOST = "Unknown"
#: where hooks of its own stand
_HOOKS = (GRADIENTS, PREHOOKS, POSTHOOKS)


class Remains:
    """What is left of a graph that was lost: whether it had user callbacks, which no server calls, and else
    the leaves that it had, which may get hooks later.
    """

    __slots__ = ("calls", "leaf", "parts")

    def __init__(
        self, calls: bool = False, leaf: weakref.ref[Tensor] | None = None, parts: Sequence[Remains] = ()
    ) -> None:
        self.calls = calls
        self.leaf = leaf
        #: what is left of the graphs behind
        self.parts = parts

    def met(self) -> bool:
        """Whether a pass over the graph would meet user callbacks: those that it had, or hooks of leaves."""
        found = {self}
        stack = [self]
        while stack:
            at = stack.pop()
            leaf = None if at.leaf is None else at.leaf()
            if at.calls or (leaf is not None and (leaf._hooks or leaf._post_hooks)):
                return True
            new = set(at.parts) - found
            found |= new
            stack += new
        return False


_CALLS, _NOTHING = Remains(calls=True), Remains()


def remains(node: Node, known: dict[Node, Remains]) -> Remains:
    """What is left of the graph from `node` on. `known` is shared between graphs lost together, so that each
    node is visited once.
    """
    stack = [node]
    while stack:
        at = stack[-1]
        behind = [] if at in known else [e.node for e in at.edges if e is not None]
        missing = [n for n in behind if n not in known]
        if missing:
            stack += missing
            continue
        stack.pop()
        if at not in known:
            known[at] = _left(at, {known[n] for n in behind})
    return known[node]


def _left(node: Node, behind: set[Remains]) -> Remains:
    """What is left of a node, given that of the nodes behind it."""
    # Of packed tensors that were freed on one side only, hooks may be missed too.
    packed = getattr(node, "packed", False) and node.freed()
    if packed or _CALLS in behind or meets_callables([node]):
        return _CALLS
    if isinstance(node, AccumulateGrad):
        return Remains(leaf=weakref.ref(node.variable))
    if isinstance(node, Opaque):
        return node.remains
    behind.discard(_NOTHING)
    if len(behind) > 1:
        return Remains(parts=tuple(behind))
    return behind.pop() if behind else _NOTHING


class Opaque(Node):
    """A graph that the mirror does not know, and what `remains` of what it knew. Only the server knows what a
    pass through it does.
    """

    _name = LOST
    opaque = True

    def __init__(self, t: Tensor, remains: Remains) -> None:
        super().__init__()
        self.backend = t.backend
        self._session: MirrorHost = t.backend.session  # type: ignore[attr-defined]
        self.remains = remains
        #: those of the session, any of which may lie behind another
        self._others = t.backend.opaque  # type: ignore[attr-defined]
        self._others.add(self)

    def reached(self) -> None:
        """After the pass, the session must ask for the state of its tensors."""
        self._session.blind()

    def waits(self, at: str) -> bool:
        """Whether the pass must pause here, since it would miss user callbacks in the graph."""
        return (at == GRADIENTS and self._met()) or super().waits(at)

    def _met(self) -> bool:
        """Whether user callbacks stand behind it: those that did, or came since at what is left of it."""
        return self.remains.met() or any(Node.waits(each, at) for each in self._others for at in _HOOKS)

    def apply(self, grads: list[Any]) -> list[Any]:
        """Returns no gradients: the server has them."""
        return []


def adopt(backend: MirrorBackend, info: TensorInfo) -> Tensor:
    """A mirror of a tensor from elsewhere."""
    t = backend.empty(Meta(tuple(info.shape), dtypes.by_name(info.dtype), tuple(info.strides)))
    t._vc, t._conj = (InferenceCounter if info.is_inference else VersionCounter)(), info.is_conj
    correct(t, info, graph_lost=True, known={}, ours=False)
    return t


def correct(
    t: Tensor, info: TensorInfo, graph_lost: bool, known: dict[Node, Remains], ours: bool = True
) -> None:
    """Correct the mirror `t` to the server's state, except for its gradient. With `graph_lost`, a non-leaf's
    graph becomes opaque; `known` is what remains of graphs lost with it, `ours` is false of a tensor that was
    never seen.
    """
    changed = t._vc.n != info.version
    shape, strides = tuple(info.shape), tuple(info.strides)
    if (tuple(t._shape), tuple(t.strides)) != (shape, strides):  # `shape` may be a subclass's own
        # A step that transposed it in place ran on one side only.
        t._shape, t.strides, changed = Size(shape), strides, True
    if graph_lost and t._stands is not None:
        edge = t._stands()
        lost = Edge(Opaque(t, _NOTHING if edge is None else remains(edge.node, known)), 0)
        t._stands = lambda: lost
    t._vc.n = info.version
    flags = info.is_leaf, info.requires_grad, info.has_graph, info.is_marked
    mine = t._leaf, t.requires_grad, t._fn is not None, t._requires_grad
    if not (graph_lost or changed) and mine == flags:
        return
    before = node_of(t)

    def left() -> Remains:
        if before is not None:
            return remains(before, known)
        # Of a history that a step took which ran here alone, nothing is known.
        return _CALLS if graph_lost and ours else _NOTHING

    t._fn, t._nr, t._requires_grad, t._view_version = None, 0, info.is_marked, info.version
    if info.has_graph:
        t._fn = Opaque(t, left())
    elif t._base is not None and not info.is_leaf:
        t._view_version -= 1  # its base has changed, so it gets a graph on demand
    if (t._leaf, t.requires_grad) == flags[:2]:
        return
    # Its base is not the server's, or there is none.
    t._fn = None if info.is_leaf else t._fn or Opaque(t, left())
    t._requires_grad = info.is_leaf and info.requires_grad
