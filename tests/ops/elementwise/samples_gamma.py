"""Samples of the logarithm of the gamma function and its derivatives."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

SAMPLES = {
    "special.zeta": [
        S(T(2, 3, low=1.2, high=6.0, grad=False), T(3, low=0.3, high=4.0)).dtypes("float32"),
        S(V([1.0, 0.5, 2.0, 3.0, 2.5, 2.0], grad=False), V([2.0, 2.0, -0.5, -2.5, -0.5, -3.0], grad=False))
        .no_grad()
        .dtypes(""),
        S(2.0, T(3, low=0.5)).dtypes(""),
        S(T(3, low=1.2, grad=False), 2).no_grad().dtypes("float32"),
    ],
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
}
