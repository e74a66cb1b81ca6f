"""Samples of maxima over windows."""

from __future__ import annotations

import numpy as np

from tests.ops.table import I, S, T, V

FLOATS = "float32 bfloat16 float16"
IMAGE = T(2, 3, 5, 6)
TIES = [[[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]]

#: values so far apart that no difference moves one past another
APART = V((np.random.default_rng(0).permutation(180).reshape(2, 3, 5, 6) - 90) / 32)
ROW = T(2, 3, 7)

SAMPLES = {
    "nn.functional.max_pool2d_with_indices": [S(APART, 2, 1, 1).no_graph()],
    "nn.functional.max_pool1d_with_indices": [S(T(2, 3, 6), 2).no_graph()],
    "nn.functional.max_pool2d": [
        S(APART, 2).dtypes(FLOATS + " int64"),
        S(APART, (3, 2), stride=(2, 1), padding=1, dilation=(1, 2)).dtypes(FLOATS),
        S(APART, 3, 2, 1, ceil_mode=True).dtypes(FLOATS),
        S(APART, 2, return_indices=True).dtypes(FLOATS),
        S(T(3, 5, 6), 2).dtypes("float32"),
        S(V(TIES, grad=False), 2, 1, return_indices=True).dtypes("float32"),
        S(T(0, 3, 5, 6), 2).dtypes("float32").no_grad(),
    ],
    "nn.functional.max_pool1d": [
        S(ROW, 2).dtypes(FLOATS),
        S(T(3, 7), 3, 2, 1, ceil_mode=True).dtypes("float32"),
        S(ROW, 2, dilation=2, return_indices=True).dtypes("float32"),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.max_pool2d": [
        S(IMAGE, 2, padding=2),
        S(IMAGE, (2, 2, 2)),
        S(IMAGE, 2, stride=0),
        S(T(5, 6), 2),
        S(IMAGE, 8),
        S(IMAGE, 2, dilation=0),
        S(I((2, 3, 5, 6), 2, dtype="bool"), 2),
        S(T(2, 0, 5, 6), 2),
        S(T(2, 3, 0, 6), 2),
        S(T(2, 3, 5, 6, dtype="complex64"), 2),
        S(IMAGE, 2, padding=-1),
    ],
    "nn.functional.max_pool1d": [S(IMAGE, 2).no_values(), S(ROW, 9).no_values()],
}
