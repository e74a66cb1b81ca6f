"""Samples of running extremes and log-sums, reductions by index, and calculus on samples."""

from __future__ import annotations

from typing import Any

from tests.ops.table import I, S, T, V

NAN, INF = float("nan"), float("inf")
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
    **{
        name: [
            S(T(2, 5), 1),
            S(T(2, 3, 2), 0),
            S(T(), 0).dtypes("float32 int64"),
            S(T(0, 3), 0).dtypes("float32"),
            S(V([1.0, NAN, 3.0, NAN, 2.0]), 0).kink().dtypes("float32"),
            S(V([2.0, 1.0, 1.0, 2.0, 2.0]), 0).kink().dtypes("float32 int64"),
            S(V([True, False], "bool", False), 0),
            S(T(2, 3), 2).fails(),
        ]
        for name in ("cummax", "cummin")
    },
    "logcumsumexp": [
        S(T(2, 4), 1).complex_too(),
        S(T(3, 2), 0),
        S(T(), 0),
        S(V([1000.0, -1000.0, 1001.0]), 0).no_grad(),
        S(V([-INF, 0.0, INF], grad=False), 0).dtypes("float32"),
        S(I([1, 2]), 0).fails(),
    ],
    "scatter_reduce": [s for r in ("sum", "prod", "mean", "amax", "amin") for s in _scatter_reduce(r)],
    "index_reduce": [s for r in ("prod", "mean", "amax", "amin") for s in _index_reduce(r)],
    "diff": [
        S(T(2, 4)).complex_too(),
        S(T(2, 4), 2, 1),
        S(T(2, 4), 1, 0, T(1, 4), T(2, 4)),
        S(T(2, 4), 7),
        S(V([True, False, False], "bool", False)),
        S(T()).fails(),
    ],
    "gradient": [
        S(T(3, 4)).no_graph(),
        S(T(4), spacing=2.0, edge_order=2).no_graph(),
        S(T(4, 3), spacing=[V([0.0, 1.0, 3.0, 4.0], grad=False)], dim=0).no_graph().dtypes("float32"),
        S(T(4, 3), spacing=[V([0.0, 1.0, 3.0, 4.0], grad=False)], dim=0, edge_order=2)
        .no_graph()
        .dtypes("float32"),
        S(I([1, 4, 9])),
        S(T(2, 3), dim=5).fails(),
        S(T(1, 3), dim=0).fails(),
        S(T(2, 3), spacing=[1.0, 2.0, 3.0]).fails(),
        S(T(2, 3), dim=(0, 0)).fails(),
    ],
    **{
        name: [
            S(T(3, 4)).no_graph(),
            S(T(3, 4), dx=2.0, dim=0).no_graph(),
            S(T(3, 4), T(4)).no_graph(),
            S(T(3, 4), T(3, 4), dim=0).no_graph(),
            S(I([1, 2, 4])),
            S(T(3, 4), T(3)).fails(),
        ]
        for name in ("trapezoid", "trapz", "cumulative_trapezoid")
    },
}
