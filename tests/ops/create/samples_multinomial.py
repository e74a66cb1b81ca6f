"""Samples of indices drawn by weights."""

from __future__ import annotations

from tests.ops.table import S, T

SAMPLES = {
    "multinomial": [
        S(T(2, 4, low=0.1), 5, True).no_values().dtypes("float32"),
        S(T(4, low=0.1), 4).no_values().dtypes("float32"),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "multinomial": [S(T(3), 4), S(T(3), 0), S(T(2, 2, 2), 1)],
}
