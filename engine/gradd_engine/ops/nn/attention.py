"""Scaled dot product attention: in blocks, or with dropout and the like composed of products and a softmax.

Source: https://pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...data import dtypes, numel
from ...declare import composite
from ..shape import to_dtype
from .attend import attend, constant, fits, weights_of
from .dropout import dropout

if TYPE_CHECKING:
    from ...tensor import Tensor

_NAMES = {
    "Bool": "bool", "Byte": "unsigned char", "Char": "signed char", "Short": "short int", "Int": "int",
    "Long": "long int", "Half": "c10::Half", "BFloat16": "c10::BFloat16", "Float": "float",
    "Double": "double",
}  # fmt: skip


#: scores that are not to be in memory all at once
MANY = 1 << 16


def _check(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout: float, causal: bool
) -> None:
    if mask is not None and causal:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{query.ndim} key.dim: {key.ndim} and value.dim: {value.ndim} instead."
        )
    names = [_NAMES.get(t.dtype.title, t.dtype.title) for t in (query, key, value)]
    if len(set(names)) > 1:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{names[0]} key.dtype: {names[1]} and value.dtype: {names[2]} instead."
        )
    if mask is not None and mask.dtype not in (dtypes.bool_, dtypes.float32, query.dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{_NAMES.get(mask.dtype.title)} and  query.dtype: {names[0]} instead."
        )
    if not 0 <= dropout <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout:g}")


def _attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
) -> Any:
    _check(query, key, value, attn_mask, dropout_p, is_causal)
    if enable_gqa:
        groups = query.shape[-3] // key.shape[-3]
        key, value = (t.repeat_interleave(groups, -3) for t in (key, value))
    kind = query.dtype
    if kind.is_half:
        # Round to 16 bits once, at the end, as PyTorch's kernels do.
        query, key, value = (to_dtype(t, dtypes.float32) for t in (query, key, value))
    whole = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    # PyTorch has a kernel for four dimensions; others get ours where all their scores are many.
    blocks = query.ndim == 4 or numel(query.shape[:-1]) * key.shape[-2] >= MANY
    if blocks and not dropout_p and constant(attn_mask) and fits(query, key, value, attn_mask):
        return to_dtype(attend(query, key, value, attn_mask, causal=is_causal, scale=whole), kind)
    weights = weights_of(query, key, attn_mask, is_causal, whole)
    if dropout_p > 0:
        weights = dropout(weights, dropout_p)
    return to_dtype(weights.matmul(value), kind)


scaled_dot_product_attention = composite(
    "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
    "float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
    body=_attention,
    namespace="nn.functional",
    doc="softmax(query key^T scale + mask) value, over the last two dimensions "
    "(torch.nn.functional.scaled_dot_product_attention).",
    autocast="lower",
)
