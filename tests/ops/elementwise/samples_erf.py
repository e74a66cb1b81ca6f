"""Samples of the error function and its complement."""

from __future__ import annotations

from tests.ops.table import I, S, T

SAMPLES = {
    "erf": [S(T(2, 3)), S(T(8, low=-6.0, high=6.0)), S(I([1, 2]))],
    "erfc": [S(T(2, 3)), S(T(8, low=-6.0, high=6.0)), S(I([1, 2]))],
}
