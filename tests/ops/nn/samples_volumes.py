"""Samples of pooling over windows of volumes."""

from __future__ import annotations

import numpy as np

from tests.ops.table import I, S, T, V

FLOATS = "float32 bfloat16 float16"
VOLUME = T(1, 2, 4, 5, 6)
#: values so far apart that no difference moves one past another
APART = V((np.random.default_rng(0).permutation(240).reshape(1, 2, 4, 5, 6) - 120) / 32)
TIES = np.array([0.0, 1.0, 1.0, 0.0] * 16).reshape(1, 4, 4, 4)

SAMPLES = {
    "nn.functional.max_pool3d": [
        S(APART, 2).dtypes(f"{FLOATS} int64"),
        S(APART, (3, 2, 2), stride=(2, 1, 1), padding=(1, 0, 1), dilation=(1, 2, 1)).dtypes("float32"),
        S(APART, 3, 2, 1, ceil_mode=True).dtypes("float32"),
        S(APART, 2, return_indices=True).dtypes("float32"),
        S(V(TIES, grad=False), 2, 1, return_indices=True).dtypes("float32"),
        S(T(2, 4, 5, 6), 2).dtypes("float32"),
        S(T(0, 2, 4, 5, 6), 2).dtypes("float32").no_grad(),
    ],
    "nn.functional.max_pool3d_with_indices": [S(APART, 2).no_graph()],
    "nn.functional.avg_pool3d": [
        S(VOLUME, 2).dtypes("float32 int64"),
        S(VOLUME, (3, 2, 1), stride=(2, 1, 3), padding=(1, 0, 0)).dtypes("float32"),
        S(VOLUME, 3, 2, 1, ceil_mode=True, count_include_pad=False).dtypes("float32"),
        S(VOLUME, 2, divisor_override=3).dtypes("float32"),
        S(T(2, 4, 5, 6), 2).dtypes("float32"),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.max_pool3d": [
        S(VOLUME, (2, 2)),
        S(VOLUME, 2, (1, 1)),
        S(VOLUME, 2, padding=2),
        S(VOLUME, 2, padding=-1),
        S(VOLUME, 2, stride=0),
        S(VOLUME, 2, dilation=0),
        S(VOLUME, 7),
        S(T(2, 3, 4), 2),
        S(T(1, 0, 4, 5, 6), 2),
        S(I((1, 2, 4, 4, 4), 2, dtype="bool"), 2),
    ],
    "nn.functional.avg_pool3d": [
        S(VOLUME, (2, 2)),
        S(VOLUME, 2, (1, 1)),
        S(VOLUME, 2, padding=(1, 1)),
        S(VOLUME, 2, padding=2),
        S(VOLUME, 7),
        S(VOLUME, 2, divisor_override=0),
        S(T(2, 3, 4), 2),
        S(T(1, 0, 4, 5, 6), 2),
        S(I((1, 2, 4, 4, 4), 2, dtype="int32"), 2).no_values(),
    ],
}
