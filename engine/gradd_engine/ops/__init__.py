"""Op families, one room each. Importing this package declares every op except those that act on autograd's
own state; `gradd_engine.assembly` declares these too.
"""

from . import create, elementwise, index, linalg, nn, optim, reduce, shape, shared

__all__ = ["create", "elementwise", "index", "linalg", "nn", "optim", "reduce", "shape", "shared"]
