"""Samples of layers at the top level."""

from __future__ import annotations

from tests.ops.makers import RUNNING
from tests.ops.table import I, S, T

SAMPLES = {
    "layer_norm": [S(T(3, 4), [4], T(4), T(4)).dtypes("").no_graph()],
    "group_norm": [S(T(2, 4, 3), 2, T(4), T(4)).dtypes("").no_graph()],
    "batch_norm": [S(T(3, 4), T(4), T(4), *RUNNING.values(), False, 0.1, 1e-5, True).dtypes("").no_graph()],
    "rms_norm": [S(T(3, 4), [4], T(4)).dtypes("").no_graph()],
    "embedding": [
        S(T(5, 3), I((2, 2), 5)).dtypes("").no_graph(),
        S(T(5, 3), I(4, 5), 2).dtypes("").no_graph(),
    ],
    "max_pool1d": [S(T(1, 2, 6), 2).dtypes("").no_graph()],
    "max_pool2d": [S(T(1, 2, 4, 4), 2).dtypes("").no_graph().kink()],
    "constant_pad_nd": [
        S(T(2, 3), [1, 2]).dtypes("").no_graph(),
        S(T(2, 3), [1, -1, 0, 2], 1.5).dtypes("").no_graph(),
    ],
    "max_pool3d": [S(T(1, 2, 2, 4, 4), 2).dtypes("").no_graph().kink()],
    "adaptive_max_pool1d": [S(T(1, 2, 6), 3).dtypes("").no_graph()],
    "grid_sampler": [
        S(T(1, 2, 3, 3), T(1, 2, 2, 2), 0, 1, False).dtypes("").no_graph(),
        S(T(1, 2, 3, 3), T(1, 2, 2, 2), 1, 0, True).dtypes("").no_graph(),
    ],
    "index_put_": [S(T(3, grad=False), (I([0, 2]),), T(2, grad=False)).no_grad().dtypes("")],
    "addmv_": [S(T(2, grad=False), T(2, 3, grad=False), T(3, grad=False), alpha=2).no_grad().dtypes("")],
}
