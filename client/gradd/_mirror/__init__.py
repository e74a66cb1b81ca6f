"""The mirror: engine tensors without numbers, which say what the server's say; the states of what it knows;
and graphs that it lost sight of.
"""

from .backend import MirrorBackend
from .opaque import LOST, adopt, correct
from .states import BATCH, MIRROR, STEP, Batch, Event, Machine, Mirror, Step, after

__all__ = [
    "BATCH", "LOST", "MIRROR", "STEP", "Batch", "Event", "Machine", "Mirror", "MirrorBackend", "Step",
    "adopt", "after", "correct",
]  # fmt: skip
