"""Tensors and their graphs as plain data, and back: `freeze` and `thaw`.

What is frozen is JSON and arrays: nothing in it is code, and ops go by their names.
"""

from .check import check
from .collector import Doubling, uncollected
from .decode import BadFrozen, thaw
from .encode import freeze
from .rows import CannotFreeze, Frozen, FrozenGraph

__all__ = [
    "BadFrozen", "CannotFreeze", "Doubling", "Frozen", "FrozenGraph", "check", "freeze", "thaw",
    "uncollected",
]  # fmt: skip
