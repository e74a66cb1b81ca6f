"""Families of ops, a room each. Importing this package declares them all; `gradd_engine.assembly` also what
acts on autograd's own state.
"""

from . import create, elementwise, index, linalg, nn, optim, reduce, shape, shared

__all__ = ["create", "elementwise", "index", "linalg", "nn", "optim", "reduce", "shape", "shared"]
