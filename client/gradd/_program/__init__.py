"""Programs: recorded steps, the builder that numbers them, splitting one that is too long, and what follows
from steps without sending them.
"""

from .builder import Builder, CachedProgram
from .cut import Cut, phase
from .deducing import covers, deduce, part_of
from .places import place
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
    "covers",
    "deduce",
    "kind_of",
    "part_of",
    "phase",
    "place",
]  # fmt: skip
