"""Samples of addition, multiplication and their kin."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

SAMPLES = {
    "add": [
        S(T(2, 3), T(3)).complex_too(),
        S(T(2, 3), T(2, 1), alpha=2),
        S(T(2), 2.5),
        S(T(), T(2)),
        S(T(2), I(2, 5)),
    ],
    "sub": [S(T(2, 3), T(3)).complex_too(), S(T(2), T(2), alpha=3), S(T(2), 1.5), S(T(3, 2), T(), alpha=2)],
    "rsub": [
        S(T(2, 3), T(3)).complex_too(),
        S(T(2), 1.5, alpha=2).torch(lambda torch, a, b, alpha: torch.rsub(a, b, alpha=alpha)),
    ],
    "mul": [S(T(2, 3), T(3)).complex_too(), S(T(2), 2.5), S(T(2, 3, 2), T(3, 1)), S(T(0, 2), T(2))],
    "div": [
        S(T(2, 3), T(3, low=0.5)).complex_too(),
        S(T(2), 2.5),
        S(I(3, 9), T(3, low=0.5)),
        S(V([1.0, 0.0, -1.0], grad=False), V([0.0, 0.0, 0.0], grad=False)).dtypes("float32"),
    ],
    "neg": [S(T(2, 3)).complex_too(), S(T())],
}
