"""Samples of QR as reflections, and of products with those."""

from __future__ import annotations

from tests.ops.table import S, T

LOW = "float32 complex64"
_Z = {"dtype": "complex128"}

SAMPLES = {
    "geqrf": [
        S(T(4, 3, grad=False)).no_grad().dtypes(LOW),
        S(T(2, 3, 4, grad=False)).no_grad().dtypes(LOW),
        S(T(3, 3, **_Z, grad=False)).no_grad().dtypes(""),
        S(T(2, 1, grad=False)).no_grad().dtypes(""),
        S(T(2, 0, grad=False)).no_grad().dtypes(""),
    ],
    "ormqr": [
        S(T(4, 3), T(3), T(4, 2)).dtypes("").no_graph().no_second(),
        S(T(4, 3), T(3), T(2, 4), False, True).dtypes("").no_graph().no_second(),
        S(T(3, 3, **_Z), T(3, **_Z), T(3, 2, **_Z), True, True).dtypes("").no_graph().no_second(),
    ],
    "orgqr": [S(T(4, 3), T(3)).dtypes("").no_graph().no_second()],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "geqrf": [S(T(3)), S(T(2, 2, dtype="float16"))],
    "ormqr": [S(T(4, 3), T(3), T(3, 2))],
}
