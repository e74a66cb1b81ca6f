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
    activations, affine, aliases, arithmetic, attention, avgpool, batchnorm, bce, bessel, binary,
    buckets, calculus, cast, cdist, closeness, combine, common, comparison, complex, conv, convcheck,
    create, creation, diagonals, distances, dropout, dynamic, einsum, elementwise, embedding, erf,
    extrema, flat, gamma, groupnorm, images, indexing, inplace, joining, linalg_cholesky, linalg_common,
    linalg_det, linalg_eig, linalg_lu, linalg_norms, linalg_products, linalg_qr, linalg_solve,
    linalg_svd, losses, margins, matmul, median, nll, norm, norms, operators, optim, pointwise, pooling,
    quantiles, random, ranges, reduce_at, reductions, reshape, rounding, running, scalars, scans,
    scatter, shape, slices, slicing, softhard, softmax, sorting, special, subscript, unique, variance,
    views, vision,
)  # fmt: skip

__all__ = [
    "activations", "affine", "aliases", "arithmetic", "attention", "autograd", "avgpool", "batchnorm",
    "bce", "bessel", "binary", "buckets", "calculus", "cast", "cdist", "closeness", "combine", "common",
    "comparison", "complex", "conv", "convcheck", "create", "creation", "custom", "diagonals",
    "distances", "dropout", "dynamic", "edges", "einsum", "elementwise", "embedding", "erf", "extrema",
    "flat", "forward_ad", "function", "gamma", "gradients", "groupnorm", "images", "indexing",
    "inplace", "joining", "linalg_cholesky", "linalg_common", "linalg_det", "linalg_eig", "linalg_lu",
    "linalg_norms", "linalg_products", "linalg_qr", "linalg_solve", "linalg_svd", "losses", "margins",
    "matmul", "median", "nll", "norm", "norms", "operators", "optim", "packing", "passes", "pointwise",
    "pooling", "quantiles", "random", "ranges", "reduce_at", "reductions", "reshape", "rounding",
    "running", "scalars", "scans", "scatter", "shape", "slices", "slicing", "softhard", "softmax",
    "sorting", "special", "subscript", "unique", "variance", "views", "vision",
]  # fmt: skip
