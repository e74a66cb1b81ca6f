"""torch.utils.checkpoint: trade compute for memory. The function runs twice in this process."""

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
    "noop_context_fn",
    "set_checkpoint_early_stop",
]
