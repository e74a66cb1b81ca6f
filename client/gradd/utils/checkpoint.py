"""torch.utils.checkpoint: trade compute for memory. The function runs twice in this process."""

from typing import Any

from gradd_engine.custom import (
    CheckpointError,
    checkpoint_sequential,
    noop_context_fn,
    set_checkpoint_early_stop,
)
from gradd_engine.custom.checkpoint import checkpoint

__all__ = [
    "CheckpointError",
    "checkpoint",
    "checkpoint_sequential",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_early_stop",
    "set_device_states",
]


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """Two empty lists: a session has one random stream, of which `gradd.get_rng_state` is the state."""
    return [], []


def set_device_states(devices: list[int], states: list[Any], *, device_type: str | None = None) -> None:
    """Has no effect: there is no other stream than that of `gradd.set_rng_state`."""
