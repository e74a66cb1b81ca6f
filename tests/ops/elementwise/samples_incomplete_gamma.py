"""Samples of the incomplete gamma functions."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

_A, _X = T(2, 3, low=0.3, high=6.0, grad=False), T(3, low=0.2, high=9.0)
_FAR = V([5e3, 5e3, 1e5, 0.0, 2.0, float("inf"), 2.0, -1.0, 0.0], grad=False)
_FROM = V([4.9e3, 5.1e3, 1e5, 3.0, 0.0, 2.0, float("inf"), 1.0, 0.0], grad=False)
_SOME = [S(_A, _X).dtypes("float32 bfloat16 float16"), S(_FAR, _FROM).no_grad().dtypes("").tol(1e-8)]

SAMPLES = {"igamma": _SOME, "igammac": _SOME}

#: calls that raise, with the oracle's class and message
ERRORS = {"igamma": [S(I([1]), I([2])), S(T(2, dtype="complex64"), T(2, dtype="complex64"))]}
