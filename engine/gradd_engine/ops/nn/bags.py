"""Bags of rows of a table, each reduced to one row (embedding_bag).

Source: https://pytorch.org/docs/stable/generated/torch.nn.functional.embedding_bag.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import Meta, dtypes, holds, within
from ...declare import composite, kernel, public
from ...schema import named
from ..elementwise import div, mul, where
from ..index import embedding
from ..shape import to_dtype
from ..shared import zeros

if TYPE_CHECKING:
    from ...schema import Op
    from ...tensor import Tensor

_INDICES = (dtypes.int64, dtypes.int32)


def _whole(t: Tensor, what: str) -> None:
    if t.dtype not in _INDICES:
        raise RuntimeError(
            f"Expected tensor for argument #1 '{what}' to have one of the following scalar types: Long, Int; "
            f"but got {t.dtype.tensor_type} instead (while checking arguments for embedding_bag)"
        )


def _places_infer(offsets: Tensor, count: int) -> Meta:
    _whole(offsets, "offsets")
    if offsets.ndim != 1 or count < 0:
        raise RuntimeError(f"embedding_bag(): {list(offsets.shape)} are no offsets of {count} elements")
    return Meta((count,), dtypes.int64)


def _places(xp: Any, offsets: Any, count: int) -> Any:
    if not offsets.size:
        return xp.zeros(count, xp.int64)
    text = (
        "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
        "However, got {}"
    )
    within(offsets[:1], 0, 1, RuntimeError, text, "embedding_bag")
    text = f"offsets[-1] can not be greater than input's length {count} but got offsets[-1] of {{}}"
    least = np.iinfo(np.int32).min
    within(offsets[-1:], least, count + 1, RuntimeError, text, "embedding_bag")
    text = "embedding_bag(): offsets have to be in ascending order"
    holds(offsets[1:] < offsets[:-1], RuntimeError, text, "embedding_bag")
    return xp.searchsorted(offsets, xp.arange(count), side="right") - 1


places: Op = kernel(
    "embedding_bag_places(Tensor offsets, *, int count) -> Tensor",
    infer=_places_infer,
    impl=_places,
    namespace="-",
    outside=True,
    doc="The bag of each of `count` elements, from where bags begin.",
)


def _summed(rows: Any, of: Any, bags: int) -> Any:
    """Rows added up by bag; the rows of a 2-D input are one bag each."""
    if of is None:
        return rows.sum(1)
    return named.index_add(zeros([bags, *rows.shape[1:]], dtype=rows.dtype), 0, of, rows)


def _greatest(rows: Any, of: Any, bags: int) -> Any:
    """Maxima of rows by bag; zeros for a bag without any."""
    low = float("-inf")
    if of is None:
        found = rows.amax(1)
    else:
        empty = zeros([bags, rows.shape[-1]], dtype=rows.dtype)
        found = named.index_reduce(empty, 0, of, rows, "amax", include_self=False)
    return where(found.eq(low), 0.0, found)


def _bag(
    input: Any,
    weight: Any,
    offsets: Any,
    per_sample_weights: Any,
    mode: str,
    scale_grad_by_freq: bool,
    include_last_offset: bool,
    padding_idx: int | None,
    sparse: bool,
) -> Any:
    weights = per_sample_weights
    _whole(input, "indices")
    if not weight.dtype.is_floating_point:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, "
            f"BFloat16, Float, Double; but got {weight.dtype.tensor_type} instead (while checking "
            "arguments for embedding_bag)"
        )
    if weights is not None and weights.dtype is not weight.dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
            f"'per_sample_weights'; but type {weight.dtype.tensor_type} does not equal "
            f"{weights.dtype.tensor_type} (while checking arguments for embedding_bag)"
        )
    of, bags = None, input.shape[0]
    if offsets is not None:
        of, bags = places(offsets, count=input.numel()), offsets.numel()
    rows = embedding.looked_up(input, weight, padding_idx, scale_grad_by_freq, sparse)
    kept = None if padding_idx is None else input.ne(padding_idx)
    if mode == "max":
        if kept is not None:
            rows = where(kept.unsqueeze(-1), rows, float("-inf"))
        found = _greatest(rows, of, bags)
    else:
        if weights is not None:
            rows = mul(rows, weights.unsqueeze(-1))
        if kept is not None:
            rows = where(kept.unsqueeze(-1), rows, 0.0)
        found = _summed(rows, of, bags)
    if mode == "mean":
        each = named.ones_like(input, dtype=weight.dtype) if kept is None else to_dtype(kept, weight.dtype)
        found = div(found, _summed(each, of, bags).clamp_min(1.0).unsqueeze(-1))
    return found.narrow(0, 0, bags - 1) if include_last_offset else found


bag: Op = composite(
    "embedding_bag(Tensor input, Tensor weight, Tensor? offsets, Tensor? per_sample_weights, *, str mode, "
    "bool scale_grad_by_freq, bool include_last_offset, int? padding_idx, bool sparse=False) -> Tensor",
    body=_bag,
    namespace="-",
    outside=True,
    doc="Bags of rows, summed, averaged or reduced to maxima (torch.nn.functional.embedding_bag).",
    autocast="as given",
)


def _check(
    input: Any, offsets: Any, weights: Any, mode: str, scaled: bool, include_last: bool, sparse: bool
) -> None:
    """Raise PyTorch's errors of what the function itself looks at."""
    if weights is not None and input.shape != weights.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({weights.shape}) is not None, then it must have the same "
            f"shape as the input ({input.shape})"
        )
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed "
                f"length sequences. However, found offsets of type {type(offsets)}"
            )
    elif input.ndim == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.ndim != 1:
            raise ValueError("offsets has to be a 1D Tensor")
        if include_last and not offsets.numel():
            raise RuntimeError("include_last_offset: number of offset should be at least 1")
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scaled:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for "
            f"mode='sum' (got mode='{mode}'). Please open a feature request on GitHub."
        )


@public("nn.functional")
def embedding_bag(
    input: Any,
    weight: Any,
    offsets: Any = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """See torch.nn.functional.embedding_bag; `sparse` as of `embedding`."""
    if weight.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    _check(input, offsets, per_sample_weights, mode, scale_grad_by_freq, include_last_offset, sparse)
    rows = weight.shape[0]
    if padding_idx is not None:
        if not -rows <= padding_idx < rows:
            raise RuntimeError(
                f"padding_idx must be within the number of embeddings, -{rows} through {rows - 1}, but got "
                f"{padding_idx}"
            )
        padding_idx %= rows
    if max_norm is not None:
        embedding.renormed(weight, input, max_norm, norm_type)
    return bag(
        input,
        weight,
        offsets,
        per_sample_weights,
        mode=mode,
        scale_grad_by_freq=scale_grad_by_freq,
        include_last_offset=include_last_offset and offsets is not None,
        padding_idx=padding_idx,
        sparse=sparse,
    )
