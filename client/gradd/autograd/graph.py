"""torch.autograd.graph: nodes and gradient edges, hooks over several tensors, saved-tensor hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.backward import (
    GradientEdge,
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    get_gradient_edge,
    register_multi_grad_hook,
    saved_tensors_hooks,
)
from gradd_engine.backward import autograd as _autograd
from gradd_engine.tensor import Node
from gradd_engine.tensor import Tensor as EngineTensor

from .._surface import from_numpy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._tensor import Tensor


class save_on_cpu(saved_tensors_hooks):
    """Context in which tensors saved for backward are moved to this process, and sent back when a pass needs
    them: saves the session's memory, costs round trips (torch.autograd.graph.save_on_cpu).

    ``pin_memory`` and ``device_type`` are accepted, without effect.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(_fetch, _send)


def _fetch(t: Tensor) -> Any:
    return t.detach().numpy().copy()  # a copy is meant: a write to the tensor loses nothing


def _send(values: Any) -> Tensor:
    return from_numpy(values)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count an in-place change of one or several tensors that autograd does not see.

    RuntimeError for anything but tensors. See torch.autograd.graph.increment_version.
    """
    found: list[Any] = [tensor]
    if not isinstance(tensor, EngineTensor) and hasattr(tensor, "__iter__"):
        found = list(tensor)
        if not all(isinstance(t, EngineTensor) for t in found):
            raise RuntimeError("increment_version expects each element of the iterable to be a tensor")
    elif not isinstance(tensor, EngineTensor):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    if found:
        _autograd.increment(found)


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Accepted, without effect: a session is a single ordered stream, on which gradients are accumulated too.
    See torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch.
    """
    _flag(enabled)


def set_override_stale_capture_stream(enabled: bool) -> None:
    """Accepted, without effect: a session is a single ordered stream, and captures no user's streams. See
    torch.autograd.graph.set_override_stale_capture_stream.
    """
    _flag(enabled)


def _flag(enabled: bool) -> None:
    if not isinstance(enabled, bool):
        raise RuntimeError(f"enabled must be a bool, but got {type(enabled).__name__}")


__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
    "set_override_stale_capture_stream",
    "set_warn_on_accumulate_grad_stream_mismatch",
]
