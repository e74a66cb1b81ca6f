"""Attention's own ops: its softmax, its masks, and all of it at once, in blocks (see `kernels.attention`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, numel
from ...declare import Joint, kernel
from ...graph import LEVELS, levels_of
from ...kernels import attend as attend_kernel
from ...kernels import attend_backward as attend_backward_kernel
from ...kernels import attention_room, slopes_plain, softmax_plain
from ..elementwise import add, mul, mul_scalar, sub, where
from ..shared import full, np_dtype, same
from .softmax import softmax_backward

if TYPE_CHECKING:
    from ...schema import Op
    from ...tensor import Tensor


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


def additive(mask: Any, dtype: dtypes.DType) -> Any:
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


def weights_of(query: Any, key: Any, mask: Any, causal: bool, scale: float) -> Any:
    """softmax(scale * query key^T + mask), all of it, in recorded ops."""
    # Both factors get the root of the scale, so that the product does not overflow.
    root = math.sqrt(abs(scale))
    scores = mul_scalar(query, math.copysign(root, scale)).matmul(mul_scalar(key.transpose(-2, -1), root))
    if causal:
        scores = add(scores, causal_mask(query.shape[-2], key.shape[-2], dtype=query.dtype))
    elif mask is not None:
        scores = add(scores, additive(mask, query.dtype))
    return safe_softmax(scores)


# -- all of it -------------------------------------------------------------------------------------


def fits(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> bool:
    """Whether `attend` takes these: alike but for the last two dimensions, and a mask that broadcasts."""
    q, k, v = (tuple(t.shape) for t in (query, key, value))
    if query.dtype not in (dtypes.float32, dtypes.float64) or not len(q) == len(k) == len(v) >= 2:
        return False
    if not q[:-2] == k[:-2] == v[:-2] or q[-1] != k[-1] or k[-2] != v[-2] or not numel(q) * numel(v):
        return False
    if any(t.dtype is not query.dtype for t in (key, value)):
        return False
    if mask is None:
        return True
    scores = (*q[:-1], k[-2])
    if mask.dtype not in (dtypes.bool_, query.dtype) or mask.ndim > len(scores):
        return False
    return all(m in (1, n) for m, n in zip(tuple(mask.shape)[::-1], scores[::-1], strict=False))


def constant(mask: Tensor | None) -> bool:
    """Whether nobody asks for a derivative by the mask, for which `attend` has none."""
    return mask is None or not (mask.requires_grad or (LEVELS and levels_of((mask,))))


def _check(name: str, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool) -> None:
    if not fits(query, key, value, mask) or (causal and mask is not None):
        shapes = [list(t.shape) for t in (query, key, value, mask) if t is not None]
        raise RuntimeError(f"{name}(): query, key, value and mask of shapes {shapes} do not fit")


def _infer(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool, scale: float
) -> Meta:
    _check("attend", query, key, value, mask, causal)
    return Meta((*query.shape[:-1], value.shape[-1]), query.dtype)


def _backward_infer(
    grad: Tensor, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool, scale: float
) -> list[Meta]:
    _check("attend_backward", query, key, value, mask, causal)
    if tuple(grad.shape) != (*query.shape[:-1], value.shape[-1]) or grad.dtype is not query.dtype:
        raise RuntimeError(f"attend_backward(): a gradient of shape {list(grad.shape)} does not fit")
    return [Meta(tuple(t.shape), t.dtype) for t in (query, key, value)]


def _cost(query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float) -> tuple[int, int]:
    rows, columns, size = query.shape[-2], key.shape[-2], query.dtype.itemsize
    many = numel(query.shape[:-2])
    work = many * rows * columns * (query.shape[-1] + value.shape[-1] + 8) // 8
    copies = 2 * (numel(query.shape) + numel(key.shape) + numel(value.shape))
    masks = rows * columns if causal else 0 if mask is None else numel(mask.shape)
    return work, size * (copies + 2 * masks + 2 * attention_room(many, rows, columns))


def _recorded(query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float) -> Any:
    return weights_of(query, key, mask, causal, scale).matmul(value)


def _backward_recorded(
    grad: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float
) -> tuple[Any, ...]:
    weights = weights_of(query, key, mask, causal, scale)
    slopes = softmax_backward(grad.matmul(value.transpose(-2, -1)), weights, -1)
    return (
        mul_scalar(slopes.matmul(key), scale),
        mul_scalar(slopes.transpose(-2, -1).matmul(query), scale),
        weights.transpose(-2, -1).matmul(grad),
    )


def _tangent(
    query: Any, query_t: Any, key: Any, key_t: Any, value: Any, value_t: Any, mask: Any, causal: bool,
    scale: float,
) -> Any:  # fmt: skip
    weights = weights_of(query, key, mask, causal, scale)
    scores = None if query_t is None else query_t.matmul(key.transpose(-2, -1))
    if key_t is not None:
        part = query.matmul(key_t.transpose(-2, -1))
        scores = part if scores is None else add(scores, part)
    moved = None if scores is None else _moved(weights, mul_scalar(scores, scale)).matmul(value)
    if value_t is None:
        return moved
    part = weights.matmul(value_t)
    return part if moved is None else add(moved, part)


attend_backward: Op = kernel(
    "attend_backward(Tensor grad, Tensor query, Tensor key, Tensor value, Tensor? mask, *, bool causal, "
    "float scale) -> (Tensor for_query, Tensor for_key, Tensor for_value)",
    infer=_backward_infer,
    impl=lambda xp, grad, query, key, value, mask, causal, scale: attend_backward_kernel(
        xp, grad, query, key, value, mask, causal, scale, softmax_plain(xp), slopes_plain
    ),
    cost=lambda grad, query, key, value, mask, causal, scale: _cost(query, key, value, mask, causal, scale),
    composite=_backward_recorded,
    namespace="-",
    outside=True,
    doc="The gradients of `attend` for query, key and value.",
    raises="not of floats",
)

attend: Op = kernel(
    "attend(Tensor query, Tensor key, Tensor value, Tensor? mask, *, bool causal, float scale) -> Tensor",
    infer=_infer,
    impl=lambda xp, query, key, value, mask, causal, scale: attend_kernel(
        xp, query, key, value, mask, causal, scale, softmax_plain(xp)
    ),
    cost=_cost,
    composite=_recorded,
    vjp=Joint(
        "query key value",
        lambda g, query, key, value, mask, causal, scale: attend_backward(
            g, query, key, value, mask, causal=causal, scale=scale
        ),
    ),
    jvp=_tangent,
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    namespace="-",
    outside=True,
    doc="softmax(scale * query key^T + mask) value in blocks, without all weights at once.",
    raises="not of floats",
)
