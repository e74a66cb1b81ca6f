"""Samples of pooling to a given size."""

from __future__ import annotations

import numpy as np

from tests.ops.table import I, S, T, V

FLOATS = "float32 bfloat16 float16"
#: values so far apart that no difference moves one past another
APART = (np.random.default_rng(0).permutation(240).reshape(1, 2, 4, 5, 6) - 120) / 32
ROW, IMAGE, VOLUME = V(APART[0, :, 0, 0]), V(APART[:, :, 0]), V(APART)
TIES = V([[[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]], grad=False)

SAMPLES = {
    **{
        f"nn.functional.adaptive_max_pool{given.values.ndim - lead}d_with_indices": [S(given, 2).no_graph()]
        for given, lead in ((ROW, 1), (IMAGE, 2), (VOLUME, 2))
    },
    "nn.functional.adaptive_max_pool1d": [
        S(ROW, 4).dtypes(FLOATS),
        S(T(2, 3, 7), (3,), return_indices=True).dtypes("float32"),
    ],
    "nn.functional.adaptive_max_pool2d": [
        S(IMAGE, 3).dtypes(FLOATS),
        S(IMAGE, (2, None)).dtypes("float32"),
        S(IMAGE, (7, 1), return_indices=True).dtypes("float32"),
        S(TIES, 2, return_indices=True).dtypes("float32"),
        S(V([[[1.0, np.nan, 0.0], [np.nan, 2.0, 3.0]]], grad=False), (1, 2), return_indices=True).dtypes(
            "float32"
        ),
        S(IMAGE, 0).dtypes("float32").no_grad(),
        S(T(0, 2, 4, 5), 2).dtypes("float32").no_grad(),
    ],
    "nn.functional.adaptive_max_pool3d": [
        S(VOLUME, 2).dtypes(FLOATS),
        S(VOLUME, (3, None, 4), return_indices=True).dtypes("float32"),
        S(T(2, 4, 5, 6), 1).dtypes("float32"),
    ],
    "nn.functional.adaptive_avg_pool3d": [
        S(VOLUME, 2).dtypes(FLOATS),
        S(VOLUME, (3, None, 7)).dtypes("float32"),
        S(VOLUME, 1).dtypes("float32"),
        S(T(2, 4, 5, 6), (2, 1, 3)).dtypes("float32"),
        S(VOLUME, 0).dtypes("float32").no_grad(),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.adaptive_max_pool1d": [
        S(ROW, (2, 2)),
        S(T(3), 2),
        S(T(2, 3, 0), 2),
        S(ROW, -1),
        S(I((2, 3, 4), 2), 2),
    ],
    "nn.functional.adaptive_max_pool2d": [
        S(IMAGE, (2, 2, 2)),
        S(T(4, 5), 2),
        S(T(1, 2, 0, 5), 2),
        S(IMAGE, -1),
        S(I((2, 3, 4), 2), 2),
    ],
    "nn.functional.adaptive_max_pool3d": [S(T(4, 5, 6), 2), S(VOLUME, (2,) * 4), S(I((1, 2, 3, 4), 2), 2)],
    "nn.functional.adaptive_avg_pool3d": [
        S(T(4, 5, 6), 2),
        S(VOLUME, (2,) * 4),
        S(VOLUME, -1),
        S(T(1, 0, 3, 4, 5), 2),
        S(I((1, 2, 3, 4), 2), 2),
    ],
}
