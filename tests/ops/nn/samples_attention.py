"""Samples of scaled dot product attention."""

from __future__ import annotations

from tests.ops.table import I, S, T

QUERY, KEY, VALUE = T(2, 4, 5), T(2, 6, 5), T(2, 6, 3)
MASK = I([[1, 0, 1, 1, 0, 1], [1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]], dtype="bool")

SAMPLES = {
    "nn.functional.scaled_dot_product_attention": [
        S(QUERY, KEY, VALUE).dtypes("float32"),
        S(QUERY, KEY, VALUE, T(4, 6)).dtypes("float32"),
        S(QUERY, KEY, VALUE, MASK).dtypes("float32"),
        S(QUERY, KEY, VALUE, is_causal=True, scale=0.3).dtypes("float32"),
        S(T(2, 2, 4, 5), T(2, 2, 6, 5), T(2, 2, 6, 5)).dtypes("float32 bfloat16").no_graph(),
        S(T(4, 5), T(6, 5), T(6, 5)).dtypes("float32").no_graph(),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.scaled_dot_product_attention": [
        S(QUERY, T(2, 6, 3), VALUE),
        S(T(5), KEY, VALUE),
        S(QUERY, T(2, 6, 5, dtype="float32"), VALUE),
        S(QUERY, KEY, VALUE, I((4, 6), 2)),
        S(QUERY, KEY, VALUE, T(3, 3)),
        S(QUERY, KEY, VALUE, dropout_p=2.0),
    ],
}
