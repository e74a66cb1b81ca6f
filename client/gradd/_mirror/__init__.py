"""The mirror: engine tensors without elements, its states, and graphs that it does not know."""

from .backend import MirrorBackend
from .opaque import LOST, adopt, correct
from .states import BATCH, MIRROR, STEP, BatchState, Event, Machine, MirrorState, StepState, after

__all__ = [
    "BATCH", "LOST", "MIRROR", "STEP", "BatchState", "Event", "Machine", "MirrorBackend", "MirrorState",
    "StepState", "adopt", "after", "correct",
]  # fmt: skip
