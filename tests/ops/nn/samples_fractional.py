"""Samples of max pooling over windows at drawn places."""

from __future__ import annotations

import numpy as np

from tests.ops.table import I, S, T, V

FLOATS = "float32 bfloat16 float16"
#: values so far apart that no difference moves one past another
IMAGE = V((np.random.default_rng(0).permutation(120).reshape(1, 2, 10, 6) - 60) / 16)
VOLUME = V((np.random.default_rng(1).permutation(240).reshape(2, 1, 5, 4, 6) - 120) / 32)
PLACES = V(np.random.default_rng(2).uniform(size=(1, 2, 2)), grad=False)
DEEP = V(np.random.default_rng(3).uniform(size=(2, 1, 3)), grad=False)

SAMPLES = {
    "nn.functional.fractional_max_pool2d": [
        S(IMAGE, 2, 3, _random_samples=PLACES).dtypes("float32"),
        S(IMAGE, (3, 2), None, (0.5, 0.7), True, PLACES).dtypes("float32"),
        S(IMAGE, 2, (1, 1), _random_samples=PLACES).dtypes("float32"),
    ],
    "nn.functional.fractional_max_pool3d": [
        S(VOLUME, 2, (3, 2, 4), _random_samples=DEEP).dtypes("float32"),
        S(VOLUME, (2, 1, 3), None, 0.5, return_indices=True, _random_samples=DEEP).dtypes("float32"),
    ],
    "nn.functional.fractional_max_pool2d_with_indices": [S(IMAGE, 2, 3, _random_samples=PLACES).no_graph()],
    "nn.functional.fractional_max_pool3d_with_indices": [S(VOLUME, 2, 2, _random_samples=DEEP).no_graph()],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.fractional_max_pool2d": [
        S(IMAGE, 2),
        S(IMAGE, 2, None, (0.5, 0.5, 0.5)),
        S(IMAGE, 5, 3),
        S(T(4, 5), 2, 2),
        S(T(1, 0, 4, 5), 2, 2),
        S(IMAGE, 2, 2, _random_samples=T(1, 2, 3)),
        S(IMAGE, 2, 2, _random_samples=T(1, 3, 2)),
        S(IMAGE, 2, 2, _random_samples=T(0, 2, 2)),
        S(IMAGE, 2, 2, _random_samples=T(2, 2)),
        S(IMAGE, 2, 2, _random_samples=T(1, 2, 2, dtype="float32")),
    ],
    "nn.functional.fractional_max_pool3d": [
        S(VOLUME, 2),
        S(VOLUME, 4, 3),
        S(T(1, 4, 5), 2, 2),
        S(VOLUME, 2, 2, _random_samples=T(2, 1, 2)),
        S(I((1, 1, 3, 3, 3), 3), 2, 2, _random_samples=I((1, 1, 3), 2)).no_values(),
    ],
}
