"""Creation ops: factories, ranges, random numbers.

Importing this room declares its ops.
"""

from . import (
    draws,
    factories,
    families,
    fills,
    implicit,
    random_ops,
    ranges,
)
from .factories import check_device, finished, wanted
from .families import sample_dirichlet, standard_gamma
from .ranges import eye, triu_indices

__all__ = [
    "check_device",
    "draws",
    "eye",
    "factories",
    "families",
    "fills",
    "finished",
    "implicit",
    "random_ops",
    "ranges",
    "sample_dirichlet",
    "standard_gamma",
    "triu_indices",
    "wanted",
]
