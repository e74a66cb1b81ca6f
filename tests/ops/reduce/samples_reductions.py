"""Samples of sums, means and products over dimensions."""

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
}
