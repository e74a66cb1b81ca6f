"""The mirror: engine tensors without numbers, which say what the server's say; the states of what it knows;
and graphs that it lost sight of.
"""

from .backend import MirrorBackend
from .opaque import LOST, adopt, correct
from .states import BATCH, MIRROR, STEP, BatchState, Event, Machine, MirrorState, StepState, after

__all__ = [
    "BATCH", "LOST", "MIRROR", "STEP", "BatchState", "Event", "Machine", "MirrorBackend", "MirrorState",
    "StepState", "adopt", "after", "correct",
]  # fmt: skip
