"""Families of operations. Importing this package declares them all."""

from .. import (  # declare backward, grad and their kin
    autograd,
    custom,
    edges,
    forward_ad,
    function,
    gradients,
    packing,
    passes,
)
from . import (
    activations, affine, aliases, arithmetic, attention, avgpool, batchnorm, bce, binary, cast,
    closeness, combine, common, comparison, complex, conv, convcheck, create, creation, diagonals,
    dropout, dynamic, einsum, elementwise, embedding, erf, extrema, gamma, groupnorm, images, indexing,
    inplace, joining, losses, margins, matmul, median, nll, norm, norms, operators, optim, pooling,
    random, ranges, reductions, reshape, rounding, scalars, scans, scatter, shape, slices, slicing,
    softhard, softmax, sorting, subscript, variance, views, vision,
)  # fmt: skip

__all__ = [
    "activations", "affine", "aliases", "arithmetic", "attention", "autograd", "avgpool", "batchnorm",
    "bce", "binary", "cast", "closeness", "combine", "common", "comparison", "complex", "conv",
    "convcheck", "create", "creation", "custom", "diagonals", "dropout", "dynamic", "edges", "einsum",
    "elementwise", "embedding", "erf", "extrema", "forward_ad", "function", "gamma", "gradients",
    "groupnorm", "images", "indexing", "inplace", "joining", "losses", "margins", "matmul", "median",
    "nll", "norm", "norms", "operators", "optim", "packing", "passes", "pooling", "random", "ranges",
    "reductions", "reshape", "rounding", "scalars", "scans", "scatter", "shape", "slices", "slicing",
    "softhard", "softmax", "sorting", "subscript", "variance", "views", "vision",
]  # fmt: skip
