"""Nodes and gradient edges, spelled as torch.autograd.graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine import autograd as _autograd
from gradd_engine.edges import GradientEdge, get_gradient_edge
from gradd_engine.nodes import Node
from gradd_engine.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "GradientEdge",
    "Node",
    "get_gradient_edge",
    "increment_version",
    "set_override_stale_capture_stream",
    "set_warn_on_accumulate_grad_stream_mismatch",
]


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count an in-place change of a tensor, or of each of several, that autograd does not see.

    RuntimeError for what is no tensor. See torch.autograd.graph.increment_version.
    """
    found: list[Any] = [tensor]
    if not isinstance(tensor, Tensor) and hasattr(tensor, "__iter__"):
        found = list(tensor)
    if not all(isinstance(t, Tensor) for t in found):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    if found:
        _autograd.increment(found)


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Accepted, and without effect: a session is one ordered stream, so gradients are accumulated on the
    stream that made them. See torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch.
    """
    _flag(enabled)


def set_override_stale_capture_stream(enabled: bool) -> None:
    """Accepted, and without effect: a session is one ordered stream, and captures none of its user's. See
    torch.autograd.graph.set_override_stale_capture_stream.
    """
    _flag(enabled)


def _flag(enabled: bool) -> None:
    if not isinstance(enabled, bool):
        raise RuntimeError(f"enabled must be a bool, but got {type(enabled).__name__}")
