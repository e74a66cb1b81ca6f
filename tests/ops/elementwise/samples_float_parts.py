"""Samples of steps, neighbours, powers of two and the multivariate gamma function."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

NAN, INF = float("nan"), float("inf")

SAMPLES = {
    "frexp": [
        S(T(2, 3)).dtypes("float32 bfloat16 float16"),
        S(V([0.0, -0.0, float("inf"), float("nan"), 1e-310, 3.0], grad=False)).no_grad().dtypes(""),
    ],
    "heaviside": [
        S(V([-1.0, 0.0, 2.0], grad=False), V([0.5, 0.25, 0.75], grad=False)),
        S(I([1, 0, -1]), I([5, 6, 7])),
        S(T(2, grad=False), T(2, dtype="float32", grad=False)).fails(),
    ],
    "nextafter": [
        S(T(2, 3, grad=False), T(3, grad=False)).dtypes("float32 bfloat16"),
        S(V([0.0, 1.0, -1.0, NAN], grad=False), V([1.0, 1.0, -2.0, 0.0], grad=False)).dtypes(
            "float32 bfloat16"
        ),
        S(V([1.0, 2.0]), V([3.0, 2.0])).kink().dtypes(),
        S(I([1]), I([2])).fails(),
    ],
    "ldexp": [S(T(2, 3), I([1, 2, 3])).no_graph(), S(T(2, 3), T(3)).no_graph(), S(I([1, 2]), I([1, 3]))],
    "positive": [S(T(2, 3)).no_grad(), S(V([True], "bool", False)).fails()],
    **{
        name: [
            S(T(2, 3, low=1.3, high=4.0), 2),
            S(T(2, 3, low=1.6, high=4.0), 3),
            S(I([3, 4]), 2),
            S(T(2), 0).fails(),
        ]
        for name in ("mvlgamma", "special.multigammaln")
    },
}
