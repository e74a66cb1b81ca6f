"""Samples of distinct elements."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

NAN, INF = float("nan"), float("inf")

SAMPLES = {
    "unique": [
        S(V([[3.0, 1.0, NAN], [1.0, 3.0, NAN]], grad=False), return_inverse=True, return_counts=True)
        .dynamic()
        .dtypes("float32"),
        S(I([[3, 1], [1, 2]])).dynamic(),
        S(I([[3, 1], [3, 1], [1, 2]]), return_inverse=True, return_counts=True, dim=0).dynamic(),
        S(I([[3, 3, 1], [1, 1, 2]]), dim=-1).dynamic(),
        S(V([True, False, True], "bool", False)).dynamic(),
        S(T(0, grad=False)).dynamic().dtypes("float32"),
    ],
    "unique_consecutive": [
        S(I([[1, 1], [2, 1]]), return_inverse=True, return_counts=True).dynamic(),
        S(I([[1, 1], [1, 1], [2, 1]]), True, True, 0).dynamic(),
    ],
    "count_distinct": [S(I([3, 1, 3]), 0, True).torch(lambda torch, x, d, o: torch.tensor(2))],
    "distinct": [
        S(I([3, 1, 3]), 2, None, True).torch(lambda torch, x, n, d, o: torch.unique(x, True, True, True))
    ],
}
