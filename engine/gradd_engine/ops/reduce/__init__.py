"""Reductions, order and scans: sums, extremes, norms, sorting, running sums.

Importing this room declares its ops.
"""

from . import (
    buckets,
    calculus,
    cdist,
    closeness,
    distances,
    extrema,
    median,
    quantiles,
    reductions,
    running,
    scans,
    sorting,
    variance,
    vector_norm,
)

__all__ = [
    "buckets",
    "calculus",
    "cdist",
    "closeness",
    "distances",
    "extrema",
    "median",
    "quantiles",
    "reductions",
    "running",
    "scans",
    "sorting",
    "variance",
    "vector_norm",
]
