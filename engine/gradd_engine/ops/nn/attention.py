"""Scaled dot product attention, composed of matrix products and a softmax.

Source: https://pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes
from ...declare import composite, kernel
from ..elementwise import add, mul, mul_scalar, sub, where
from ..shape import to_dtype
from ..shared import full, np_dtype, same
from .dropout import dropout
from .softmax import softmax_backward

if TYPE_CHECKING:
    from ...schema import Op
    from ...tensor import Tensor

_NAMES = {
    "Bool": "bool", "Byte": "unsigned char", "Char": "signed char", "Short": "short int", "Int": "int",
    "Long": "long int", "Half": "c10::Half", "BFloat16": "c10::BFloat16", "Float": "float",
    "Double": "double",
}  # fmt: skip


def _softmax(xp: Any, input: Any) -> Any:
    top = (
        input.max(axis=-1, keepdims=True)
        if input.shape[-1]
        else xp.zeros((*input.shape[:-1], 1), input.dtype)
    )
    e = xp.exp(input - xp.where(xp.isinf(top), 0, top))
    total = e.sum(axis=-1, keepdims=True)
    return e / xp.where(total == 0, 1, total)


def _moved(out: Any, t: Any) -> Any:
    inner = mul(out, t)
    return sub(inner, mul(out, inner.sum(-1, True)))


safe_softmax: Op = kernel(
    "safe_softmax(Tensor input) -> Tensor",
    infer=same,
    impl=_softmax,
    vjp=lambda g, out: softmax_backward(g, out, -1),
    jvp=lambda input_t, out: _moved(out, input_t),
    node="SafeSoftmaxBackward0",
    namespace="-",
    outside=True,
    doc="Softmax over the last dimension; rows of only -inf give zeros.",
    raises=False,
)


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


def _additive(mask: Any, dtype: dtypes.DType) -> Any:
    """A mask as a term to add to the scores: -inf where a boolean mask is False."""
    if mask.dtype is not dtypes.bool_:
        return mask
    open_, shut = (full([], value, dtype=dtype) for value in (0.0, -math.inf))
    return where(mask, open_, shut)


def _causal(xp: Any, rows: int, columns: int, dtype: Any, meta: Meta) -> Any:
    number = np_dtype(meta.dtype).type
    return xp.where(xp.tri(rows, columns, dtype=bool), number(0), number(-math.inf))


def _causal_cost(rows: int, columns: int, dtype: Any) -> tuple[int, int]:
    """One flag per element, and the row and column numbers."""
    return rows * columns + rows + columns, rows * columns + 16 * (rows + columns)


causal_mask: Op = kernel(
    "causal_mask(int rows, int columns, *, dtype dtype) -> Tensor",
    infer=lambda rows, columns, dtype: Meta((rows, columns), dtype),
    impl=_causal,
    cost=_causal_cost,
    namespace="-",
    outside=True,
    doc="-inf above the diagonal, otherwise 0: added to scores, it hides later positions.",
)


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
    # Both factors get the root of the scale, so that the product does not overflow.
    whole = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    root = math.sqrt(abs(whole))
    scores = mul_scalar(query, math.copysign(root, whole)).matmul(mul_scalar(key.transpose(-2, -1), root))
    if is_causal:
        scores = add(scores, causal_mask(query.shape[-2], key.shape[-2], dtype=query.dtype))
    elif attn_mask is not None:
        scores = add(scores, _additive(attn_mask, query.dtype))
    weights = safe_softmax(scores)
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
