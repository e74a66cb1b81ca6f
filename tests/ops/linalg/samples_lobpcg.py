"""Samples of a few eigenvalues of symmetric matrices."""

from __future__ import annotations

from typing import Any

from tests.ops.makers import M, well
from tests.ops.table import S, T

_A, _B = T(7, 7), T(7, 7, grad=False)


def _found(linalg: Any, top: Any, A: Any, *rest: Any, **options: Any) -> Any:
    """Values, and for each vector its products with itself: signs are left open."""
    if rest:
        options["B"] = rest[0] @ rest[0].mT + well(rest[0] * 0)
    values, vectors = top("lobpcg")(A + A.mT + well(A * 0) * 2, **options)
    return values, vectors @ vectors.mT


SAMPLES = {
    "lobpcg": [
        M(_found, _A, k=2).dtypes("").no_graph().tol(1e-5),
        M(_found, _A, k=1, largest=False).dtypes("").no_graph().tol(1e-5),
        M(_found, _A, _B, k=2).dtypes("").no_graph().tol(1e-5).no_grad(),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {"lobpcg": [S(T(3, 2)), S(T(5, 5), 2)]}
