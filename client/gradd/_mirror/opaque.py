"""Graphs that the mirror lost sight of, and mirrors made to say what the server says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.backward import meets_callables
from gradd_engine.data import InferenceCounter, Meta, Size, VersionCounter, dtypes
from gradd_engine.tensor import GRADIENTS, Edge, Node

if TYPE_CHECKING:
    from gradd_engine.tensor import Tensor
    from gradd_protocol.messages import TensorInfo

    from .backend import MirrorBackend, MirrorHost

#: the name of the node of a graph that the mirror lost sight of
LOST = "Unknown"


class Opaque(Node):
    """A graph that the mirror lost sight of. A pass through it is the server's to judge."""

    _name = LOST
    opaque = True

    def __init__(self, t: Tensor, before: Node | None) -> None:
        super().__init__()
        self.backend = t.backend
        self._session: MirrorHost = t.backend.session  # type: ignore[attr-defined]
        #: user callbacks stood in the graph `before`: no server calls them
        self._calls = before is not None and meets_callables(before)

    def reached(self) -> None:
        """After the pass the session must ask what became of its tensors."""
        self._session.blind()

    def waits(self, at: str) -> bool:
        """Whether the pass must pause here: it would miss user callbacks that stood in the graph."""
        return (self._calls and at == GRADIENTS) or super().waits(at)

    def apply(self, grads: list[Any]) -> list[Any]:
        """No edges, no gradients: the server has them."""
        return []


def adopt(backend: MirrorBackend, info: TensorInfo) -> Tensor:
    """A mirror of a tensor that came from elsewhere."""
    t = backend.empty(Meta(tuple(info.shape), dtypes.by_name(info.dtype), tuple(info.strides)))
    t._vc, t._conj = (InferenceCounter if info.is_inference else VersionCounter)(), info.is_conj
    correct(t, info, graph_lost=True)
    return t


def correct(t: Tensor, info: TensorInfo, graph_lost: bool) -> None:
    """Make the mirror `t` say what the server says, but for its gradient. With `graph_lost` a non-leaf's
    graph becomes opaque.
    """
    changed = t._vc.n != info.version
    shape, strides = tuple(info.shape), tuple(info.strides)
    if (tuple(t.shape), tuple(t.strides)) != (shape, strides):
        # A step that turned it in place ran on one side alone.
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
    t._fn, t._nr, t._requires_grad, t._view_version = None, 0, info.is_marked, info.version
    if info.has_graph:
        t._fn = Opaque(t, before)
    elif t._base is not None and not info.is_leaf:
        t._view_version -= 1  # its base changed since: it gets a graph when somebody looks
    if (t._leaf, t.requires_grad) == flags[:2]:
        return
    # Its base is not the one that the server knows, or there is none.
    t._fn = None if info.is_leaf else t._fn or Opaque(t, before)
    t._requires_grad = info.is_leaf and info.requires_grad
