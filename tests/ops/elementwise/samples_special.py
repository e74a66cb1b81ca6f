"""Samples of inverses and scaled forms of the error function, and of entropies."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

NAN, INF = float("nan"), float("inf")
_EDGES = V([0.0, -0.0, INF, -INF, NAN], grad=False)

SAMPLES = {
    "erfinv": [
        S(T(2, 3, low=-0.9, high=0.9)),
        S(V([-0.999999, 1e-9, 0.5, 0.4999999, 0.99])).no_grad(),
        S(V([0.0, 1.0, -1.0, 1.5, NAN], grad=False)).dtypes("float32"),
        S(I([0, 1, -1])),
    ],
    "special.erfcx": [
        S(T(2, 3, low=-2.0, high=3.0)),
        S(V([-5.0, 10.0, 25.9, 26.1, 1e3, 1e8])).no_grad().dtypes("float32"),
        S(_EDGES).dtypes("float32"),
        S(I([1, 0, -2])),
    ],
    "special.ndtr": [S(T(2, 3)).no_graph(), S(_EDGES).dtypes("float32"), S(I([1, 0, -2]))],
    "special.log_ndtr": [
        S(T(2, 3, low=-3.0, high=3.0)),
        S(V([-40.0, -1.0, -1.001, 8.0])).no_second().dtypes("float32"),
        S(_EDGES).dtypes("float32"),
        S(I([1, 0, -2])),
    ],
    "special.ndtri": [
        S(T(2, 3, low=0.05, high=0.95)),
        S(V([1e-12, 1e-200, 0.999, 0.5])).no_grad().dtypes(),
        S(V([0.0, 1.0, -0.5, 1.5, NAN], grad=False)).dtypes("float32"),
        S(I([0, 1])),
    ],
    "special.entr": [
        S(T(2, 3, low=0.2, high=2.0)),
        S(V([0.0, -1.0, NAN, INF], grad=False)).dtypes("float32"),
        S(V([0.0, 1.0])).kink(),
        S(I([0, 2, -1])),
    ],
    "special.xlog1py": [
        S(T(2, 3), T(3, low=-0.5, high=2.0)),
        S(T(2, 3), 0.5),
        S(2.0, T(2, 3, low=-0.5, high=2.0)),
        S(V([0.0, 0.0, 1.0]), V([-1.0, NAN, -1.0])).kink().dtypes("float32"),
        S(I([0, 2]), I([1, 3])),
    ],
}
