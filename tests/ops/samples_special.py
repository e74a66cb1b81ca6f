"""Samples of special functions, closeness and medians."""

from __future__ import annotations

from tests.ops.table import I, S, Sample, T, V

NAN, INF = float("nan"), float("inf")
_SOME = (V([1.0, 2.0, NAN, INF], grad=False), V([1.0, 2.1, NAN, INF], grad=False))


def _middle() -> list[Sample]:
    return [
        S(T(2, 3)),
        S(T(7)),
        S(T(2, 3, 4), 1),
        S(T(2, 4), -1, True),
        S(T(), 0),
        S(V([1.0, 2.0, 2.0, 3.0])).kink(),
        S(V([1.0, NAN, 3.0])).kink().dtypes("float32"),
        S(V([[1.0, NAN, 3.0], [2.0, 4.0, 1.0]]), 1).kink().dtypes("float32"),
        S(I((2, 5), 9), 1),
        S(T(2, 0), 1).fails(),
    ]


SAMPLES = {
    **{
        name: [
            S(T(2, 3, low=0.3, high=5.0)),
            S(V([-3.4, -2.6, -1.3, -0.4, 0.2, 3.3, 11.0])).no_second(),
            S(V([0.0, -1.0, 1.0, 2.0, 100.0], grad=False)).dtypes("float32"),
            S(I([1, 2, 3])),
        ]
        for name in ("lgamma", "digamma", "special.gammaln", "special.psi")
    },
    "polygamma": [
        S(0, T(2, 3, low=0.3, high=5.0)),
        S(1, T(2, 3, low=0.3, high=5.0)).dtypes("float32"),
        S(2, T(2, 3, low=0.3, high=5.0)).dtypes("float32"),
        S(1, T(4, low=-2.9, high=-2.1)).dtypes("float32").no_grad(),
    ],
    "angle": [S(T(2, 3)).complex_too(), S(I([1, -2])), S(V([0.0, NAN], grad=False)).dtypes("float32")],
    "sinc": [S(T(2, 3, low=0.1)).complex_too(), S(I([1, 0])), S(V([0.0, 0.5])).kink()],
    "isclose": [
        S(T(2, 3, grad=False), T(3, grad=False)),
        S(*_SOME).dtypes("float32"),
        S(*_SOME, 0.1, 0.0, True).dtypes("float32"),
        S(I([1, 2]), I([1, 3])),
        S(T(2), T(2, dtype="float32")).fails(),
        S(T(2), T(2), -1.0).fails(),
    ],
    "allclose": [
        S(T(2, 3, grad=False), T(2, 3, grad=False)).no_meta(),
        S(*_SOME, 0.1, 0.0, True).dtypes("float32").no_meta(),
    ],
    "equal": [
        S(I([1, 2]), I([1, 2])).no_meta(),
        S(I([1, 2]), I([1, 3])).no_meta(),
        S(I([1, 2]), I([1, 2, 3])).no_meta(),
    ],
    "median": _middle(),
    "nanmedian": _middle(),
}
