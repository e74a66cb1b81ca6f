"""Samples of the bytes of a tensor as another dtype."""

from __future__ import annotations

from typing import Any

from gradd_engine.data.dtypes import float32, float64, int8, int16, int32, int64

from tests.ops.table import I, S, T


def _view(torch: Any, x: Any, dtype: Any) -> Any:
    return x.view(dtype)


SAMPLES = {
    "view_dtype": [
        S(T(3, 4), int64).no_grad().dtypes("").torch(_view),
        S(T(3, 4), int32).no_grad().dtypes("").no_layouts().torch(_view),
        S(I((2, 4), 9), float64).no_grad().torch(_view),
        S(I((2, 8), 9, dtype="int8"), float32).no_grad().no_layouts().torch(_view),
        S(I((2, 8), 9, dtype="int16"), int8).no_grad().no_layouts().torch(_view),
    ]
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "view_dtype": [
        S(T(grad=False), int32).torch(_view),
        S(I((2, 3), 9, dtype="int16"), int32).torch(_view),
        S(I((2, 3), 9, dtype="int8"), int16).torch(_view),
    ]
}
