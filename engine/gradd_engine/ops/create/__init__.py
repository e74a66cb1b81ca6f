"""Creation ops: factories, ranges, random numbers.

Importing this room declares its ops.
"""

from . import (
    draws,
    factories,
    random_ops,
    ranges,
)

__all__ = [
    "draws",
    "factories",
    "random_ops",
    "ranges",
]
