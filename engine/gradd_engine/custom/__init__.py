"""`autograd.Function`, checkpoints, and the random stream that checkpoints restore."""

from . import custom_node, function, seeding
from .checkpoint import CheckpointError, checkpoint_sequential, noop_context_fn, set_checkpoint_early_stop
from .custom_node import CustomNode
from .function import DelayedError, Function, InplaceFunction, once_differentiable
from .function_node import BackwardNode
from .written_views import DirtySlices

__all__ = [
    "BackwardNode",
    "CheckpointError",
    "CustomNode",
    "DelayedError",
    "DirtySlices",
    "Function",
    "InplaceFunction",
    "checkpoint_sequential",
    "custom_node",
    "function",
    "noop_context_fn",
    "once_differentiable",
    "seeding",
    "set_checkpoint_early_stop",
]
