"""Samples of reductions by index."""

from __future__ import annotations

from typing import Any

from tests.ops.table import I, S, T, V

_WHERE = I([[0, 2, 1, 0], [1, 0, 0, 2]])


def _scatter_reduce(reduce: str) -> list[Any]:
    smooth = reduce in ("sum", "mean", "prod")
    found = [
        S(T(3, 4), 0, _WHERE, T(2, 4), reduce),
        S(T(3, 4), 0, _WHERE, T(2, 5), reduce, include_self=False).own_gradient(),
        S(T(3, 4), -1, I([[0, 0, 3], [1, 1, 1]]), T(2, 3), reduce).dtypes("float32 bfloat16"),
        S(T(3), 0, I([0, 0, 1]), T(3), reduce, include_self=False),
        S(T(), 0, I(0), T(), reduce),
        S(I([1, 2, 3]), 0, I([0, 0, 1]), I([4, 5, 6]), reduce),
        S(V([1.0, 2.0, 0.0]), 0, I([0, 0, 2]), V([0.0, 3.0, 5.0]), reduce).kink().dtypes("float32"),
        S(V([1.0, 2.0, 2.0]), 0, I([0, 1, 1]), V([1.0, 2.0, 2.0]), reduce).kink().dtypes("float32"),
        S(V([1.0, 2.0]), 0, I([0, 0]), V([1.0, 1.0]), reduce, include_self=False).kink().dtypes("float32"),
        S(T(3), 0, I([7]), T(3), reduce).fails().no_meta(),
    ]
    if smooth:
        found[0] = found[0].complex_too()
    return found


def _index_reduce(reduce: str) -> list[Any]:
    return [
        S(T(3, 4), 0, I([0, 2, 0]), T(3, 4), reduce).dtypes("float32 int64"),
        S(T(3, 4), 1, I([0, 0]), T(3, 2), reduce, include_self=False).dtypes("float32"),
        S(T(3, 4), 0, I([0, 2]), T(3, 4), reduce).fails(),
    ]


SAMPLES = {
    "scatter_reduce": [s for r in ("sum", "prod", "mean", "amax", "amin") for s in _scatter_reduce(r)],
    "index_reduce": [s for r in ("prod", "mean", "amax", "amin") for s in _index_reduce(r)],
}
