"""Programs: recorded steps, the builder that numbers them, and splitting one that is too long."""

from .builder import Builder, CachedProgram
from .cut import Cut, phase
from .steps import LATE, Grad, Recorded, RuntimeSlot, attrs_of, kind_of

__all__ = [
    "LATE",
    "Builder",
    "CachedProgram",
    "Cut",
    "Grad",
    "Recorded",
    "RuntimeSlot",
    "attrs_of",
    "kind_of",
    "phase",
]  # fmt: skip
