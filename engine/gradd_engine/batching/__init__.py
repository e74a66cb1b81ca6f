"""`vmap`: levels whose tensors show one sample and hold the batch, and a rule for each op."""

from .batched_pass import batch_of, check_batched, run_through
from .level import BatchedBackend
from .refused import BACKWARD, REQUIRES, RETAINS, refuse
from .tree import Structure, flatten, spread, unflatten
from .vmap import lifted, vmap

__all__ = [
    "BACKWARD",
    "REQUIRES",
    "RETAINS",
    "BatchedBackend",
    "Structure",
    "batch_of",
    "check_batched",
    "flatten",
    "lifted",
    "refuse",
    "run_through",
    "spread",
    "unflatten",
    "vmap",
]
