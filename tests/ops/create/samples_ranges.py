"""Samples of ranges, identities and indices of triangles."""

from __future__ import annotations

import warnings
from typing import Any

from gradd_engine.data.dtypes import float64, int64

from tests.ops.table import S, V, lookup


def _silent(*args: Any) -> Any:
    """The range without its warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lookup("range")(*args)


_TRIANGLES = [S(2, 3), S(3, 3, 1), S(4, 2, -1), S(3, 5, 2), S(2, 2, -5), S(2, 2, 7), S(0, 3), S(3, 0, 1)]

SAMPLES = {
    "arange": [
        S(5),
        S(5.0),
        S(1, 5),
        S(1, 6, 2),
        S(0, 1, 0.3),
        S(5, 0, -2),
        S(5, dtype=float64),
        S(True),
        S(start=1, end=3),
        S(3, 3),
        S(3.0, requires_grad=True),
    ],
    "range": [S(1, 4, 0.5).calls(_silent).torch(lambda torch, a, b, s: torch.arange(a, b + s, s))],
    "linspace": [
        S(0, 1, 5),
        S(0, 1, 1),
        S(0, 1, 0),
        S(0, 10, 4, dtype=int64),
        S(-1.5, 2, 6, dtype=float64),
        S(0, 1j, 3),
        S(4.9, -3.9, 7, dtype=int64),
        S(V(4.9, grad=False), -3.9, 7, dtype=int64),
        S(0, V(2.5, grad=False), 4),
        S(V(1.0, grad=False), V(2.5, grad=False), 1),
    ],
    "logspace": [
        S(0, V(2.0, grad=False), 3),
        S(4.3, 2.0, 4, dtype=int64),
        S(0, 2, 3),
        S(0, 3, 4, base=2),
        S(0, 1, 3, dtype=float64),
    ],
    "eye": [S(2), S(2, 3), S(3, 2, dtype=int64), S(0)],
    "tril_indices": _TRIANGLES,
    "triu_indices": _TRIANGLES,
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "arange": [S(5, 0), S(0, 5, 0), S(float("inf")), S(3, requires_grad=True)],
    "linspace": [S(0, 1, -1)],
    "eye": [S(-1), S(2, -1)],
    "tril_indices": [S(-1, 2)],
    "triu_indices": [S(2, -1)],
}
