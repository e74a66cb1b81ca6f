"""Creation ops: factories, ranges, random numbers.

Importing this room declares its ops.
"""

from . import (
    draws,
    factories,
    fills,
    random_ops,
    ranges,
)
from .factories import check_device, finished, wanted
from .ranges import eye, triu_indices

__all__ = [
    "check_device",
    "draws",
    "eye",
    "factories",
    "fills",
    "finished",
    "random_ops",
    "ranges",
    "triu_indices",
    "wanted",
]
