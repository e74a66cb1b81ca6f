"""Creation ops: factories, ranges, random numbers.

Importing this room declares its ops.
"""

from . import (
    draws,
    factories,
    families,
    fills,
    implicit,
    multinomial,
    random_ops,
    ranges,
)
from .factories import check_device, finished, made, wanted
from .families import sample_dirichlet, standard_gamma
from .implicit import dirichlet_grad, standard_gamma_grad
from .ranges import eye, triu_indices

__all__ = [
    "check_device",
    "dirichlet_grad",
    "draws",
    "eye",
    "factories",
    "families",
    "fills",
    "finished",
    "implicit",
    "made",
    "multinomial",
    "random_ops",
    "ranges",
    "sample_dirichlet",
    "standard_gamma",
    "standard_gamma_grad",
    "triu_indices",
    "wanted",
]
