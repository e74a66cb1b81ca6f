"""Samples of sums, means, products, spreads, norms, extremes and truth over dimensions."""

from __future__ import annotations

from gradd_engine.data import dtypes

from tests.ops.table import I, S, Sample, T, V

NAN, INF = float("nan"), float("inf")
F64 = dtypes.float64


def _summed() -> list[Sample]:
    return [
        S(T(2, 3)).complex_too(),
        S(T(2, 3, 4), 1).complex_too(),
        S(T(2, 3, 4), (0, -1), keepdim=True),
        S(T(2, 3, 4), dim=[0, 1]),
        S(T(), dim=0),
        S(I((2, 3), 9), 1),
        S(I((2, 3), 9, dtype="uint8")),
        S(T(2, 3), 5).fails(),
        S(T(2, 3), (0, 0)).fails(),
        S(T(2, 3, dtype="float32"), dtype=F64),
        S(T(2, 0, 3), 1),
    ]


def _spread() -> list[Sample]:
    return [
        S(T(2, 3)).complex_too(),
        S(T(2, 3, 4), 1).complex_too(),
        S(T(2, 3, 4), (0, 2), keepdim=True),
        S(T(2, 3), correction=0),
        S(T(2, 3), False),
        S(T(2, 3), 1, True, True),
        S(T(4), dim=0, unbiased=False),
        S(V([2.0, 2.0])).kink(),
    ]


def _ends() -> list[Sample]:
    return [
        S(T(2, 3)),
        S(T(2, 3, 4), 1),
        S(T(2, 3, 4), (0, 2), keepdim=True),
        S(T(), 0),
        S(V([1.0, 3.0, 3.0, 1.0, 1.0])).kink(),
        S(T(2, 0), 1).fails(),
    ]


def _chosen() -> list[Sample]:
    return [
        S(T(2, 3)),
        S(T()),
        S(T(2, 3, 4), 1),
        S(T(2, 3), -1, True),
        S(T(2, 3), dim=0, keepdim=True),
        S(T(), 0),
        S(V([1.0, 3.0, 3.0, 1.0, 1.0])).kink(),
        S(V([[1.0, 3.0, 3.0], [1.0, 1.0, 1.0]]), 1).kink().dtypes("float32"),
        S(V([1.0, NAN, NAN])).kink().dtypes("float32"),
        S(T(2, 3), T(3)),
        S(I((2, 3), 9), 1),
        S(T(2, 0)).fails(),
        S(T(2, 0), 1).fails(),
        S(T(2, 3), 3).fails(),
    ]


def _indexed() -> list[Sample]:
    return [
        S(T(2, 3)),
        S(T(2, 3), 1),
        S(T(2, 3, 4), dim=1, keepdim=True),
        S(I((2, 3), 9), 0),
        S(T()),
        S(T(0)).fails(),
    ]


def _true() -> list[Sample]:
    some = I([[True, False, True], [True, True, True]], dtype="bool")
    return [
        S(some),
        S(some, 1),
        S(some, 0, True),
        S(T(2, 3)),
        S(I((2, 3), 2, dtype="uint8"), 1),
        S(I((2, 0), 2), 1),
    ]


_ORDERS = (2, 1, 3, 0.5, 1.5, INF, -INF, -1, 0)

SAMPLES = {
    "sum": _summed(),
    "mean": [*_summed()[:5], *_summed()[7:10], S(T(2, 0, 3), 1).kink(), S(I((2, 3), 9), 1).fails()],
    "nansum": [
        S(T(2, 3)),
        S(T(2, 3, 4), 1),
        S(T(2, 3), (0, 1), keepdim=True),
        S(V([1.0, NAN])).kink(),
        S(I((2, 3), 9), 1),
    ],
    "nanmean": [S(T(2, 3)), S(T(2, 3, 4), 1, keepdim=True), S(V([1.0, NAN])).kink().dtypes("float32")],
    "prod": [
        S(T(2, 3)).complex_too(),
        S(T(2, 3, 4), 1).complex_too(),
        S(T(2, 3), -1, True),
        S(T()),
        S(T(), 0),
        S(V([2.0, 0.0, 3.0])),
        S(V([[0.0, 0.0, 3.0], [1.0, 0.0, 2.0]]), 1),
        S(I((2, 3), 9), 1),
        S(T(2, 0), 1),
    ],
    "prod_others": [
        S(T(2, 3), 1)
        .torch(lambda torch, x, dim: x.prod(dim, keepdim=True) / x)
        .no_graph()
        .no_layouts()
        .dtypes()
    ],
    "var": [*_spread(), S(I((2, 3), 9)).fails()],
    "std": _spread(),
    "var_mean": [s.no_inplace() for s in _spread()],
    "std_mean": _spread(),
    "linalg.vector_norm": [
        *[S(T(2, 3, low=0.2), p) for p in _ORDERS if p != 0],
        S(T(2, 3), 0).no_grad(),
        *[S(T(2, 3, 4), p, (0, 2), keepdim=True).complex_too() for p in (2, 1, 3, 1.5, INF)],
        *[S(V([0.0, 0.0]), p).kink().dtypes("float32") for p in (2, 1, 3, 0.5, INF)],
        S(V([0.0, 2.0, -2.0]), INF).kink(),
        S(T(2, 3, dtype="float32"), dtype=F64),
        S(I((2, 3), 9)).fails(),
        S(T(0), INF).fails(),
    ],
    "amax": _ends(),
    "amin": _ends(),
    "max": _chosen(),
    "min": _chosen(),
    "aminmax": [
        S(T(2, 3)),
        S(T(2, 3, 4), dim=1),
        S(T(2, 3), dim=-1, keepdim=True),
        S(V([1.0, 1.0, 2.0])).kink(),
    ],
    "argmax": _indexed(),
    "argmin": _indexed(),
    "all": _true(),
    "any": _true(),
    "count_nonzero": [S(I((2, 3), 2)), S(T(2, 3), 1), S(I((2, 3), 2), (0, 1))],
}
