"""torch.autograd.graph: nodes, hooks over several tensors, saved-tensor hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.hooks import register_multi_grad_hook
from gradd_engine.nodes import Node
from gradd_engine.packing import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    saved_tensors_hooks,
)

from .._creation import from_numpy

if TYPE_CHECKING:
    from .._tensor import Tensor


class save_on_cpu(saved_tensors_hooks):
    """Context in which tensors saved for backward are brought to this process, and sent back when a pass
    needs them: memory of the session for round trips (torch.autograd.graph.save_on_cpu).

    ``pin_memory`` and ``device_type`` are accepted and say nothing here.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(_fetch, _send)


def _fetch(t: Tensor) -> Any:
    return t.detach().numpy()


def _send(values: Any) -> Tensor:
    return from_numpy(values)


__all__ = [
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]
