"""Opaque graphs, which the mirror does not know, and correcting mirrors from the server's state."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from gradd_engine.backward import meets_callables, nodes_behind
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
)

if TYPE_CHECKING:
    from gradd_engine.tensor import Tensor
    from gradd_protocol.messages import TensorInfo

    from .backend import MirrorBackend, MirrorHost

#: the name of an opaque node
LOST = "Unknown"
#: where hooks of its own stand
_HOOKS = (GRADIENTS, PREHOOKS, POSTHOOKS)


class Opaque(Node):
    """A graph that the mirror does not know: what lay `before` there, or what was `cut` from the tensor. Only
    the server knows what a pass through it does.
    """

    _name = LOST
    opaque = True

    def __init__(self, t: Tensor, before: Node | None, cut: bool = False) -> None:
        super().__init__()
        self.backend = t.backend
        self._session: MirrorHost = t.backend.session  # type: ignore[attr-defined]
        behind = [] if before is None else nodes_behind(before)
        #: whether the graph `before` had user callbacks, which no server calls, or packed tensors that were
        #: freed on one side only
        self._calls = cut or meets_callables(behind) or any(map(_unpacked, behind))
        #: the leaves that it had, which may get hooks later
        self._leaves = [weakref.ref(node.variable) for node in behind if isinstance(node, AccumulateGrad)]
        for node in behind:
            if isinstance(node, Opaque):
                self._leaves += node._leaves
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
        if self._calls or any(Node.waits(each, at) for each in self._others for at in _HOOKS):
            return True
        leaves = [leaf for ref in self._leaves if (leaf := ref()) is not None]
        return any(leaf._hooks or leaf._post_hooks for leaf in leaves)

    def apply(self, grads: list[Any]) -> list[Any]:
        """Returns no gradients: the server has them."""
        return []


def _unpacked(node: Node) -> bool:
    """Whether hooks may have packed what the node saved, which is freed here."""
    return getattr(node, "packed", False) and node.freed()


def adopt(backend: MirrorBackend, info: TensorInfo) -> Tensor:
    """A mirror of a tensor from elsewhere."""
    t = backend.empty(Meta(tuple(info.shape), dtypes.by_name(info.dtype), tuple(info.strides)))
    t._vc, t._conj = (InferenceCounter if info.is_inference else VersionCounter)(), info.is_conj
    correct(t, info, graph_lost=True, ours=False)
    return t


def correct(t: Tensor, info: TensorInfo, graph_lost: bool, ours: bool = True) -> None:
    """Correct the mirror `t` to the server's state, except for its gradient. With `graph_lost`, a non-leaf's
    graph becomes opaque; `ours` is false of one that was never seen.
    """
    changed = t._vc.n != info.version
    shape, strides = tuple(info.shape), tuple(info.strides)
    if (tuple(t.shape), tuple(t.strides)) != (shape, strides):
        # A step that transposed it in place ran on one side only.
        t._shape, t.strides, changed = Size(shape), strides, True
    if graph_lost and t._stands is not None:
        edge = t._stands()
        lost = Edge(Opaque(t, None if edge is None else edge.node), 0)
        t._stands = lambda: lost
    t._vc.n = info.version
    flags = info.is_leaf, info.requires_grad, info.has_graph, info.is_marked
    known = t._leaf, t.requires_grad, t._fn is not None, t._requires_grad
    if not (graph_lost or changed) and known == flags:
        return
    before = t._fn
    # A step that took its history ran here alone.
    cut = graph_lost and ours and before is None
    t._fn, t._nr, t._requires_grad, t._view_version = None, 0, info.is_marked, info.version
    if info.has_graph:
        t._fn = Opaque(t, before, cut)
    elif t._base is not None and not info.is_leaf:
        t._view_version -= 1  # its base has changed, so it gets a graph on demand
    if (t._leaf, t.requires_grad) == flags[:2]:
        return
    # Its base is not the server's, or there is none.
    t._fn = None if info.is_leaf else t._fn or Opaque(t, before, cut)
    t._requires_grad = info.is_leaf and info.requires_grad
