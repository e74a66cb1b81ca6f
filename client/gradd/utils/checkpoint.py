"""torch.utils.checkpoint: trade computing for memory. The function runs here, twice; what it records runs
there.
"""

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
