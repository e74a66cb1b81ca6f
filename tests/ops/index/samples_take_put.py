"""Samples of elements by their place in row-major order."""

from __future__ import annotations

from tests.ops.table import I, S, T

SAMPLES = {
    "take": [
        S(T(2, 3), I([1, -1, 1])).complex_too(),
        S(T(2, 3), I([[0, 5]])),
        S(T(), I([0, 0])),
        S(T(2, 3), I([6])).fails().no_meta(),
        S(T(2, 3), I([1], dtype="int32")).fails(),
        S(T(0), I([0])).fails(),
    ],
    "put": [
        S(T(2, 3), I([1, 4]), T(2)).torch(lambda torch, x, *a: x.put(*a)).complex_too(),
        S(T(2, 3), I([1, -5, 1]), T(3), True).torch(lambda torch, x, *a: x.put(*a)),
        S(T(2, 3), I([1, 9]), T(2)).torch(lambda torch, x, *a: x.put(*a)).fails().no_meta(),
        S(T(2, 3), I([1, 2]), T(3)).torch(lambda torch, x, *a: x.put(*a)).fails(),
    ],
}
