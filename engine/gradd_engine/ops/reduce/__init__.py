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
    hashing,
    histograms,
    median,
    quantiles,
    reductions,
    requirement,
    running,
    scans,
    sorting,
    variance,
)
from .reductions import axes, collect, mean, reduced, spread, sum
from .requirement import BLANK, require
from .scans import cumprod
from .vector_norm import vector_norm

__all__ = [
    "BLANK",
    "axes",
    "buckets",
    "calculus",
    "cdist",
    "closeness",
    "collect",
    "cumprod",
    "distances",
    "extrema",
    "hashing",
    "histograms",
    "mean",
    "median",
    "quantiles",
    "reduced",
    "reductions",
    "require",
    "requirement",
    "running",
    "scans",
    "sorting",
    "spread",
    "sum",
    "variance",
    "vector_norm",
]
