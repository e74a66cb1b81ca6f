"""Samples of order."""

from __future__ import annotations

from tests.ops.table import S, T, V

F32 = "float32"
SPREAD = V([[3.0, 1.0, 2.0], [0.5, 4.0, -1.0]])

SAMPLES = {
    "topk": [
        S(SPREAD, 2).no_layouts().dtypes("float32"),
        S(T(3, 4), 2, 0).dtypes("float32"),
        S(T(4), 1, largest=False).dtypes("float32"),
        S(T(), 1),
    ],
    "sort": [
        S(T(3, 4)),
        S(T(3, 4), 0, True),
        S(T(4), stable=True),
        S(T()),
        S(V([1.0, float("nan"), -1.0], grad=False)).dtypes(F32),
    ],
    "argsort": [S(T(3, 4)).no_grad(), S(T(3, 4), 0, True).no_grad()],
    "msort": [S(T(3, 4))],
    "kthvalue": [S(T(3, 4), 2).dtypes("float32"), S(T(3, 4), 1, 0, True).dtypes("float32"), S(T(), 1)],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "topk": [S(T(4), 9), S(T(4), 1, 3), S(T(4), -1)],
    "sort": [S(T(4), 3)],
    "kthvalue": [S(T(4), 9)],
}
