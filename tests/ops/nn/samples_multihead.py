"""Samples of attention in several heads."""

from __future__ import annotations

from typing import Any

from tests.ops.table import S, T


def _of(query: Any, key: Any, *masks: Any, heads: int = 2, **how: Any) -> Any:
    """A call with weights of four features, and no weights returned unless `how` says so."""
    weights = (T(12, 4), T(12), None, None, False, 0.0, T(4, 4), T(4))
    return S(query, key, key, 4, heads, *weights, **{"need_weights": False, **how}).no_graph()


SAMPLES = {
    "nn.functional.multi_head_attention_forward": [
        _of(T(3, 2, 4), T(5, 2, 4)).dtypes("float32"),
        _of(T(3, 4), T(5, 4), heads=4).dtypes("float32"),
        _of(T(3, 2, 4), T(5, 2, 4), need_weights=True),
        _of(T(3, 2, 4), T(5, 2, 4), attn_mask=T(3, 5), average_attn_weights=False, need_weights=True),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.multi_head_attention_forward": [
        _of(T(4), T(5, 4)),
        _of(T(3, 2, 4), T(5, 4)),
        _of(T(3, 2, 5), T(5, 2, 5)),
        _of(T(3, 2, 4), T(5, 2, 4), heads=3),
        _of(T(3, 2, 4), T(5, 2, 4), attn_mask=T(3, 4)),
        _of(T(3, 2, 4), T(5, 2, 4), is_causal=True),
    ],
}
