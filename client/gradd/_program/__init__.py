"""Programs: recorded steps, the builder that numbers them, and cutting one that has grown too long."""

from .builder import Builder, Known
from .cut import Cut, phase
from .steps import LATE, Grad, Late, Recorded, attrs_of, kind_of

__all__ = [
    "LATE", "Builder", "Cut", "Grad", "Known", "Late", "Recorded", "attrs_of", "kind_of", "phase",
]  # fmt: skip
