"""Samples of moving elements between channels and space."""

from __future__ import annotations

from tests.ops.table import S, T

SAMPLES = {
    "nn.functional.pixel_shuffle": [
        S(T(1, 8, 2, 3), 2).complex_too(),
        S(T(9, 2, 1), 3).dtypes("float32"),
        S(T(2, 1, 4, 2, 2), 2).dtypes("float32"),
        S(T(1, 0, 2, 2), 2).dtypes("float32").no_grad(),
    ],
    "nn.functional.pixel_unshuffle": [
        S(T(1, 2, 4, 6), 2).complex_too(),
        S(T(1, 3, 6), 3).dtypes("float32"),
    ],
    "nn.functional.channel_shuffle": [
        S(T(2, 6, 2, 3), 2).complex_too(),
        S(T(6, 6, 2), 3).dtypes("float32"),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.pixel_shuffle": [S(T(2, 4), 2), S(T(1, 7, 3, 3), 2), S(T(1, 8, 2, 2), 0)],
    "nn.functional.pixel_unshuffle": [
        S(T(2, 4), 2), S(T(1, 8, 3, 2), 2), S(T(1, 8, 2, 3), 2), S(T(1, 8, 2, 2), -1),
    ],
    "nn.functional.channel_shuffle": [S(T(2, 4), 2), S(T(1, 7, 3, 3), 2), S(T(1, 8, 2, 2), 0)],
}  # fmt: skip
