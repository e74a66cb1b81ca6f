"""Samples of conversions between dtypes."""

from __future__ import annotations

from gradd_engine.data.dtypes import float32, int64

from tests.ops.table import S, T

SAMPLES = {
    "to_copy": [
        S(T(2, 3), float32).torch(lambda torch, x, dtype: x.to(dtype)).tol(1e-3).no_second().dtypes(""),
        S(T(2, 3), int64).no_grad().torch(lambda torch, x, dtype: x.to(dtype)),
    ],
}
