"""Samples of the cross-entropy of a linear map."""

from __future__ import annotations

from tests.ops.table import I, S, T

SAMPLES = {
    "nn.functional.linear_cross_entropy": [
        S(T(3, 4), T(5, 4), I((3,), 5)).dtypes("float32"),
        S(T(4), T(5, 4), I((), 5), linear_bias=T(5), weight=T(5, low=0.5, grad=False)).dtypes("float32"),
        S(T(2, 4), T(5, 3, 4), I((2, 3), 5), linear_bias=T(5, 3), ignore_index=1).dtypes("float32"),
        S(T(3, 4), T(5, 4), T(3, 5, low=0.1, grad=False), label_smoothing=0.1, reduction="sum").dtypes(
            "float32"
        ),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.linear_cross_entropy": [
        S(T(2, 3, 4), T(5, 4), I((2,), 5)),
        S(T(3, 4), T(4), I((3,), 5)),
        S(T(3, 4), T(5, 3), I((3,), 5)),
        S(T(3, 4), T(5, 4), I((3,), 5), linear_bias=T(4)),
        S(T(4), T(5, 2, 4), I((2,), 5)),
        S(T(3, 4), T(5, 4), T(3, 5), ignore_index=1),
    ],
}
