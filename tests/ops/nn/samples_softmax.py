"""Samples of softmax and its kin."""

from __future__ import annotations

from gradd_engine.data import dtypes

from tests.ops.table import I, S, Sample, T, V

INF = float("inf")


def _soft() -> list[Sample]:
    return [
        S(T(2, 3), 1),
        S(T(2, 3, 4), dim=0),
        S(T(2, 3, 4), -1),
        S(T(), 0),
        S(T(2, 3, dtype="float32", grad=False), 1, dtype=dtypes.float64),
        S(V([[1e4, 0.0, -1e4]]), 1).dtypes("float32"),
        S(V([[-INF, 0.0]]), 1).kink().dtypes("float32"),
        S(I((2, 3), 9), 1).fails(),
        S(T(2, 3), 2).fails(),
        S(T(0, 3), 1).dtypes("float32"),
    ]


SAMPLES = {
    "softmax": _soft(),
    "log_softmax": _soft(),
    "nn.functional.softmin": [S(T(2, 3), 1), S(T(2, 3), 1, dtype=dtypes.float32).dtypes().no_grad()],
    "logsumexp": [
        S(T(2, 3), 1).dtypes("float32 bfloat16 int64"),
        S(T(2, 3, 4), (0, 2), keepdim=True).dtypes("float32"),
        S(T(), 0).dtypes("float32"),
        S(V([1e4, 0.0]), 0).dtypes("float32"),
        S(V([-INF, -INF]), 0).kink().dtypes("float32"),
    ],
}
