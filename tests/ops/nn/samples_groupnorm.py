"""Samples of group norm."""

from __future__ import annotations

from tests.ops.table import S, T

FLOATS = "float32 bfloat16 float16"
IMAGE = T(3, 4, 2, 3)
CHANNELS = (T(4), T(4))

SAMPLES = {
    "nn.functional.group_norm": [
        S(IMAGE, 2, *CHANNELS).dtypes(FLOATS),
        S(IMAGE, 4).dtypes(FLOATS),
        S(T(3, 4), 2, T(4)).dtypes(FLOATS),
        S(T(2, 4, 3), 1, *CHANNELS, eps=1e-2).dtypes(FLOATS),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.group_norm": [
        S(IMAGE, 3),
        S(IMAGE, 2, T(2)),
        S(T(4), 2),
        S(T(1, 4, 1, 1), 4),
    ],
}
