"""Op families, one room each. Importing this package declares them all, except ops on autograd's own state,
which `gradd_engine.assembly` adds.
"""

from . import create, elementwise, index, linalg, nn, optim, reduce, shape, shared, spectral

__all__ = ["create", "elementwise", "index", "linalg", "nn", "optim", "reduce", "shape", "shared", "spectral"]
