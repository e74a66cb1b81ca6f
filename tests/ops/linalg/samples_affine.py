"""Samples of products added to something."""

from __future__ import annotations

from tests.ops.table import S, T

SAMPLES = {
    "linear": [
        S(T(2, 3), T(4, 3), T(4)).complex_too(),
        S(T(2, 3), T(4, 3)),
        S(T(3), T(4, 3), T(4)),
        S(T(3), T(4, 3)),
        S(T(2, 2, 3), T(4, 3), T(4)),
        S(T(2, 2, 3), T(4, 3)),
        S(T(2, 2, 2, 3), T(4, 3), T(4)),
        S(T(2, 3), T(3)),
    ],
    "addmm": [
        S(T(4), T(2, 3), T(3, 4)).complex_too(),
        S(T(2, 4), T(2, 3), T(3, 4), beta=0.5, alpha=2),
        S(T(2, 4), T(2, 3), T(3, 4), beta=0).dtypes("float32"),
    ],
    "addmv": [S(T(2), T(2, 3), T(3)).complex_too(), S(T(2), T(2, 3), T(3), beta=0.5, alpha=2)],
    "addr": [S(T(2, 3), T(2), T(3)).complex_too(), S(T(3), T(2), T(3), beta=0.5, alpha=2)],
    "baddbmm": [
        S(T(2, 2, 4), T(2, 2, 3), T(2, 3, 4)).complex_too(),
        S(T(4), T(2, 2, 3), T(2, 3, 4), beta=2, alpha=0.5),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "linear": [S(T(2, 3), T(4, 2), T(4)), S(T(2, 3), T(4, 3), T(5)), S(T(2, 3, 4), T(4, 2))],
    "addmm": [
        S(T(5), T(2, 3), T(3, 4)),
        S(T(4), T(2, 3), T(2, 4)),
        S(T(4, dtype="float32"), T(2, 3), T(3, 4)),
        S(T(4), T(3), T(3, 4)),
        S(T(4), T(2, 3), T(3)),
    ],
    "addmv": [S(T(3), T(2, 3), T(3))],
    "addr": [S(T(2, 2), T(3), T(2)), S(T(2, 2), T(2, 1), T(2))],
    "baddbmm": [
        S(T(2, 2, 5), T(2, 2, 3), T(2, 3, 4)),
        S(T(2, 2, 4), T(2, 2, 3), T(2, 3, 4, dtype="float32")),
    ],
}
