"""The mirror: engine tensors without elements, its states, and graphs that it does not know."""

from .backend import MirrorBackend
from .doubt import doubtful
from .opaque import LOST, Remains, adopt, correct
from .states import (
    BATCH,
    EXTENT,
    MIRROR,
    STEP,
    BatchState,
    Event,
    Extent,
    Machine,
    MirrorState,
    StepState,
    after,
)

__all__ = [
    "BATCH", "EXTENT", "LOST", "MIRROR", "STEP", "BatchState", "Event", "Extent", "Machine", "MirrorBackend",
    "MirrorState", "Remains", "StepState", "adopt", "after", "correct", "doubtful",
]  # fmt: skip
