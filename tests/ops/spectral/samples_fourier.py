"""Samples of the three transforms under torch.fft."""

from __future__ import annotations

from typing import Any

from tests.ops.table import S, T


def _named(name: str) -> Any:
    return lambda torch, *args: getattr(torch, name)(*args)


_C2C, _R2C, _C2R = _named("_fft_c2c"), _named("_fft_r2c"), _named("_fft_c2r")

SAMPLES = {
    "fft_c2c": [
        S(T(2, 4, dtype="complex128"), [0, 1], 1, True).dtypes("").torch(_C2C),
        S(T(3, 4, 2, dtype="complex128"), [1], 2, False).dtypes("").torch(_C2C),
        S(T(3, dtype="complex128"), [], 0, True).dtypes("").torch(_C2C),
    ],
    "fft_r2c": [
        S(T(3, 4), [1], 0, True).dtypes("").torch(_R2C),
        S(T(3, 5, 2), [2, 1], 2, True).dtypes("").torch(_R2C),
        S(T(3, 4), [0, 1], 1, False).dtypes("").torch(_R2C),
    ],
    "fft_c2r": [
        S(T(3, 4, dtype="complex128"), [1], 0, 6).dtypes("").torch(_C2R),
        S(T(3, 4, dtype="complex128"), [1], 0, 7).dtypes("").torch(_C2R),
        S(T(2, 3, 1, dtype="complex128"), [0, 2], 1, 1).dtypes("").torch(_C2R),
    ],
}
