"""Samples of averages over windows, and to a given size."""

from __future__ import annotations

from tests.ops.table import I, S, T

FLOATS = "float32 bfloat16 float16"
IMAGE = T(2, 3, 5, 6)
ROW = T(2, 3, 7)

SAMPLES = {
    "nn.functional.avg_pool2d": [
        S(IMAGE, 2).dtypes(FLOATS),
        S(IMAGE, (3, 2), stride=(2, 1), padding=1).dtypes(FLOATS),
        S(IMAGE, 3, 2, 1, ceil_mode=True, count_include_pad=False).dtypes(FLOATS),
        S(IMAGE, 3, 2, 1, ceil_mode=True).dtypes("float32"),
        S(T(3, 5, 6), 2, divisor_override=3).dtypes("float32"),
    ],
    "nn.functional.avg_pool1d": [
        S(ROW, 2).dtypes(FLOATS),
        S(T(3, 7), 3, 2, 1, ceil_mode=True, count_include_pad=False).dtypes("float32"),
    ],
    "nn.functional.adaptive_avg_pool2d": [
        S(IMAGE, 2).dtypes(FLOATS),
        S(IMAGE, (3, 4)).dtypes(FLOATS),
        S(IMAGE, 1).dtypes("float32"),
        S(T(3, 5, 6), (None, 8)).dtypes("float32"),
    ],
    "nn.functional.adaptive_avg_pool1d": [S(ROW, 3).dtypes("float32")],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.avg_pool2d": [
        S(IMAGE, 2, padding=2),
        S(IMAGE, (2, 2, 2)),
        S(IMAGE, 2, stride=0),
        S(IMAGE, 9),
        S(IMAGE, 2, divisor_override=0),
        S(T(2, 0, 5, 6), 2),
    ],
    "nn.functional.adaptive_avg_pool2d": [
        S(IMAGE, (2, 3, 4)),
        S(IMAGE, -1),
        S(T(5, 6), 2),
        S(I((2, 3, 5, 6), 4), 2),
        S(T(2, 3, 0, 6), 2),
    ],
}
