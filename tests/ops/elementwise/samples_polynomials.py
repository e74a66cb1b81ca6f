"""Samples of orthogonal polynomials."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

_DEGREES = I([[0, 1, 2], [3, 7, 12]])


def _some() -> list:
    return [
        S(T(2, 3, low=-0.9, high=0.9, grad=False), _DEGREES).no_grad().dtypes("float32 int64"),
        S(V([-1.0, 1.0, 0.0], grad=False), 3).no_grad().dtypes("float32"),
        S(0.4, V([-1.0, 0.0, 4.7, 9.0], grad=False)).no_grad().dtypes(""),
        S(V([1.5, -1.5, 2.5, -2.5], grad=False), I([2, 3, 6, 9])).no_grad().dtypes("").tol(1e-9),
    ]


SAMPLES = {
    f"special.{name}": _some()
    for name in (
        "hermite_polynomial_h",
        "hermite_polynomial_he",
        "laguerre_polynomial_l",
        "legendre_polynomial_p",
        *(
            f"{shifted}chebyshev_polynomial_{kind}"
            for shifted in ("", "shifted_")
            for kind in ("t", "u", "v", "w")
        ),
    )
}

#: calls that raise, with the oracle's class and message
ERRORS = {"special.legendre_polynomial_p": [S(T(2, dtype="bfloat16"), 2), S(T(2, dtype="complex64"), 2)]}
