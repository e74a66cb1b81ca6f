"""Samples of what layers call at the top level."""

from __future__ import annotations

from tests.ops.table import I, S, T

SAMPLES = {
    "conv_tbc": [
        S(T(5, 2, 3), T(3, 3, 4), T(4)).dtypes("").no_graph().no_layouts(),
        S(T(5, 2, 3), T(3, 3, 4), T(4), 1).dtypes("").no_graph().no_layouts(),
    ],
    "max_pool1d_with_indices": [S(T(1, 2, 6), 2).dtypes("").no_graph()],
    "convolution": [
        S(T(1, 2, 5), T(3, 2, 3), T(3), [1], [1], [1], False, [0], 1).dtypes("").no_graph(),
        S(T(1, 2, 4, 4), T(2, 1, 2, 2), None, [2, 2], [0, 0], [1, 1], True, [1, 1], 2).dtypes("").no_graph(),
    ],
    "embedding_renorm_": [S(T(4, 3, grad=False), I([1, 2, 1]), 0.5, 2.0).no_grad().dtypes("")],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "conv_tbc": [
        S(T(5, 2), T(3, 3, 4), T(4)),
        S(T(5, 2, 3), T(3, 4), T(4)),
        S(T(5, 2, 3), T(3, 3, 4), T(3)),
        S(T(5, 2, 2), T(3, 3, 4), T(4)),
    ],
}
