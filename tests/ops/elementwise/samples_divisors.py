"""Samples of common divisors and multiples."""

from __future__ import annotations

from tests.ops.table import I, S, T

SAMPLES = {
    name: [
        S(I([12, 18, 0, -4]), I([8, -27, 0, 6])),
        S(I([[12], [7]]), I([8, 21])),
        S(I([12, 5]), I(10, dtype="int32")),
        S(I([12, 5], dtype="int32"), I([10, 4])).no_inplace(),
    ]
    for name in ("gcd", "lcm")
}

#: calls that raise, with the oracle's class and message
ERRORS = {name: [S(T(2), T(2)), S(I([True], dtype="bool"), I([True], dtype="bool"))] for name in SAMPLES}
