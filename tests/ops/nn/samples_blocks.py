"""Samples of sliding blocks as columns, and columns added back."""

from __future__ import annotations

from tests.ops.table import I, S, T

IMAGE = T(2, 3, 4, 5)

SAMPLES = {
    "nn.functional.unfold": [
        S(IMAGE, 2).dtypes("float32 bfloat16 float16 bool").complex_too(),
        S(IMAGE, (3, 2), dilation=(1, 2), padding=(1, 0), stride=(1, 2)).dtypes("float32"),
        S(T(3, 4, 5), (2, 3), 1, 1, 2).dtypes("float32"),
        S(T(0, 2, 3, 3), 3).dtypes("float32").no_grad(),
    ],
    "nn.functional.fold": [
        S(T(2, 12, 12), (4, 5), 2).dtypes("float32 bfloat16 float16").complex_too(),
        S(T(2, 12, 8), (4, 5), (3, 2), (1, 2), (1, 0), (1, 2)).dtypes("float32"),
        S(T(8, 9), 4, 2).dtypes("float32"),
        S(T(0, 18, 9), 5, 3).dtypes("float32").no_grad(),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.unfold": [
        S(T(2, 0, 3, 3), 2),
        S(IMAGE, 7),
        S(IMAGE, 0),
        S(IMAGE, (3, 3, 3)),
        S(IMAGE, 2, stride=0),
        S(IMAGE, 2, dilation=0),
        S(IMAGE, 2, padding=-1),
        S(I((2, 3, 4, 5), 3), 2).no_values(),
    ],
    "nn.functional.fold": [
        S(T(1, 18, 8), 5, 3),
        S(T(1, 17, 9), 5, 3),
        S(T(9), 5, 3),
        S(T(1, 0, 9), 5, 3),
        S(T(1, 18, 9), (5, 5, 5), 3),
        S(T(1, 18, 9), 2, 3),
        S(T(1, 18, 9), 5, 3, stride=0),
        S(T(1, 18, 9), 5, 0),
        S(I((1, 18, 9), 3), 5, 3).no_values(),
    ],
}
