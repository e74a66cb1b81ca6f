"""Samples of root-mean-square norm."""

from __future__ import annotations

from tests.ops.table import I, S, T

FLOATS = "float32 bfloat16 float16"

SAMPLES = {
    "nn.functional.rms_norm": [
        S(T(3, 4), [4], T(4)).dtypes(FLOATS),
        S(T(3, 4), [4], eps=1e-3).dtypes(FLOATS),
        S(T(2, 3, 4), [3, 4]).dtypes("float32"),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.rms_norm": [
        S(T(3, 4), [3]),
        S(T(3, 4), []),
        S(T(3, 4), [4], T(3)),
        S(I((3, 4), 3), [4]),
    ],
}
