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
)
from .reductions import axes, collect, mean, reduced, spread, sum
from .scans import cumprod
from .vector_norm import vector_norm

__all__ = [
    "axes",
    "buckets",
    "calculus",
    "cdist",
    "closeness",
    "collect",
    "cumprod",
    "distances",
    "extrema",
    "mean",
    "median",
    "quantiles",
    "reduced",
    "reductions",
    "running",
    "scans",
    "sorting",
    "spread",
    "sum",
    "variance",
    "vector_norm",
]
