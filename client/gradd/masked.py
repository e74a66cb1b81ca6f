"""Reductions and normalisations that leave out elements (torch.masked): where `mask` is False, an element
counts for nothing.

`mask` is a bool tensor that broadcasts to the input's shape, or None for all elements.
https://docs.pytorch.org/docs/stable/masked.html
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradd_engine.data import dtypes

from . import _top as T
from . import linalg
from ._surface import iinfo
from ._tensor import Tensor

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean",
    "median", "norm", "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip

_Dims = int | Sequence[int] | None
_top: Any = T
_linalg: Any = linalg


def _dims(dim: _Dims, ndim: int) -> tuple[int, ...]:
    """The dimensions, counted from the first; all for None. RuntimeError, IndexError as PyTorch has them."""
    if dim is None:
        return tuple(range(ndim))
    found: list[int] = []
    n = max(ndim, 1)
    for d in (dim,) if isinstance(dim, int) else dim:
        if not -n <= d < n:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})"
            )
        if d % n in found:
            raise RuntimeError(f"dim={d % n} appears multiple times in the list of dims")
        found.append(d % n)
    return tuple(found)


def _whole(input: Any, mask: Any) -> Any:
    """The mask in the input's shape."""
    if tuple(mask.shape) == tuple(input.shape):
        return mask.bool()
    if mask.ndim > input.ndim:
        raise IndexError(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)"
        )
    return mask.expand(input.shape).bool()


def _filled(input: Any, mask: Any, value: float) -> Any:
    """The input with `value` where it is masked out."""
    return input if mask is None else _top.where(_whole(input, mask), input, input.new_full((), value))


def _least(dtype: Any) -> float:
    if dtype.is_floating_point or dtype.is_complex:
        return -math.inf
    return float(iinfo(dtype).min)


def _most(dtype: Any) -> float:
    return math.inf if dtype.is_floating_point else int(iinfo(dtype).max)


def _wide(input: Any, dtype: Any) -> Any:
    """The dtype of sums: of small integers int64."""
    if dtype is not None or input.dtype.is_floating_point or input.dtype.is_complex:
        return dtype or input.dtype
    return dtypes.int64


def sum(
    input: Tensor, dim: _Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The sum over `dim` (torch.masked.sum); of small integers in int64."""
    x: Any = _filled(input, mask, 0)
    if not x.ndim:
        return x.to(_wide(input, dtype))  # type: ignore[no-any-return]
    return x.sum(_dims(dim, x.ndim), bool(keepdim), dtype=_wide(input, dtype))  # type: ignore[no-any-return]


def prod(
    input: Tensor, dim: _Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The product over `dim` (torch.masked.prod); of small integers in int64."""
    x: Any = _filled(input, mask, 1).to(_wide(input, dtype))
    for d in sorted(_dims(dim, x.ndim), reverse=True):
        x = x.prod(d, keepdim=bool(keepdim))
    return x  # type: ignore[no-any-return]


def cumsum(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Running sums along `dim` (torch.masked.cumsum)."""
    return _filled(input, mask, 0).cumsum(*_dims(dim, input.ndim), dtype=dtype or input.dtype)  # type: ignore[no-any-return]


def cumprod(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Running products along `dim` (torch.masked.cumprod)."""
    return _filled(input, mask, 1).cumprod(*_dims(dim, input.ndim), dtype=dtype or input.dtype)  # type: ignore[no-any-return]


def amax(
    input: Tensor, dim: _Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The largest element over `dim` (torch.masked.amax)."""
    x = _filled(input, mask, _least(input.dtype))
    return x.amax(_dims(dim, input.ndim), bool(keepdim)).to(dtype or input.dtype)  # type: ignore[no-any-return]


def amin(
    input: Tensor, dim: _Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The smallest element over `dim` (torch.masked.amin)."""
    x = _filled(input, mask, _most(input.dtype))
    return x.amin(_dims(dim, input.ndim), bool(keepdim)).to(dtype or input.dtype)  # type: ignore[no-any-return]


def argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Where the largest element is (torch.masked.argmax)."""
    x = _filled(input, mask, _least(input.dtype))
    return x.argmax(dim, bool(keepdim)).to(dtype or input.dtype)  # type: ignore[no-any-return]


def argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Where the smallest element is (torch.masked.argmin)."""
    x = _filled(input, mask, _most(input.dtype))
    return x.argmin(dim, bool(keepdim)).to(dtype or input.dtype)  # type: ignore[no-any-return]


def _count(input: Any, dim: _Dims, keepdim: bool, mask: Any) -> Any:
    """How many elements count."""
    dims = _dims(dim, input.ndim) if input.ndim else ()
    if mask is not None:
        whole = _whole(input, mask)
        return whole.sum(dims, keepdim) if input.ndim else whole.sum()
    shape = [1 if d in dims else n for d, n in enumerate(input.shape)]
    if not keepdim:
        shape = [n for d, n in enumerate(input.shape) if d not in dims]
    return input.new_full(shape, math.prod(input.shape[d] for d in dims), dtype=dtypes.int64)


def mean(
    input: Tensor, dim: _Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The mean over `dim` (torch.masked.mean). ValueError for integers."""
    found = dtype or input.dtype
    if not (found.is_floating_point or found.is_complex):
        source = "Input" if dtype is None else "Optional"
        raise ValueError(
            f"mean(): Could not infer output dtype. {source} dtype must be either a floating point or "
            f"complex dtype. Got: {found}"
        )
    total: Any = sum(input, dim, keepdim=keepdim, dtype=found, mask=mask)
    return total / _count(input, dim, bool(keepdim), mask)  # type: ignore[no-any-return]


def median(
    input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The median along `dim` (torch.masked.median). ValueError where no element of integers counts."""
    real = input.dtype.is_floating_point
    x: Any = _filled(input if real else input.float(), mask, math.nan)
    found = x.nanmedian(*_dims(dim, x.ndim), bool(keepdim)).values
    if not real:
        if bool(found.isnan().any()):
            raise ValueError("masked median expected no fully masked out rows if dtype is not floating point")
        found = found.to(dtype or input.dtype)
    return found  # type: ignore[no-any-return]


def logsumexp(
    input: Tensor, dim: _Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The logarithm of the sum of exponentials over `dim` (torch.masked.logsumexp)."""
    x = _filled(input, mask, _least(input.dtype))
    return x.logsumexp(_dims(dim, x.ndim), keepdim=bool(keepdim)).to(dtype or input.dtype)  # type: ignore[no-any-return]


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: Any = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """The logarithm of the sum of both exponentials (torch.masked.logaddexp)."""
    first, second = _filled(input, input_mask, -math.inf), _filled(other, other_mask, -math.inf)
    return _top.logaddexp(first, second).to(dtype or input.dtype)  # type: ignore[no-any-return]


def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: _Dims = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The vector norm over `dim` (torch.masked.norm)."""
    x = _filled(input, mask, math.inf if ord == -math.inf else 0)
    dims = list(_dims(dim, x.ndim))
    return _linalg.vector_norm(x, 2 if ord is None else ord, dims, bool(keepdim), dtype=dtype)  # type: ignore[no-any-return]


def _variance(
    input: Any, dim: _Dims, correction: float, keepdim: bool, dtype: Any, mask: Any, root: bool
) -> Any:
    real = input.dtype.is_floating_point or input.dtype.is_complex
    found = dtype or (input.dtype if real else dtypes.float32)
    within = found if found.is_floating_point or found.is_complex else dtypes.float32
    count = _count(input, dim, True, mask)
    x = input - sum(input, dim, keepdim=True, dtype=found, mask=mask) / count
    total: Any = sum(x * x.conj(), dim, keepdim=keepdim, dtype=within, mask=mask)
    if not keepdim:
        count = count.reshape(total.shape)
    if correction:
        count = (count.to(within.to_real()) - correction).clamp_min(0)
    spread = (total / count).to(found)
    return spread.sqrt() if root else spread


def _correction(unbiased: bool | None, correction: float | None) -> float:
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is not None:
        return float(correction)
    return 0.0 if unbiased is False else 1.0


def var(
    input: Tensor,
    dim: _Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The variance over `dim` (torch.masked.var)."""
    how = _correction(unbiased, correction)
    return _variance(input, dim, how, bool(keepdim), dtype, mask, False)  # type: ignore[no-any-return]


def std(
    input: Tensor,
    dim: _Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The standard deviation over `dim` (torch.masked.std)."""
    how = _correction(unbiased, correction)
    return _variance(input, dim, how, bool(keepdim), dtype, mask, True)  # type: ignore[no-any-return]


def softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Softmax along `dim` (torch.masked.softmax)."""
    return _top.softmax(_filled(input, mask, -math.inf), *_dims(dim, input.ndim), dtype=dtype)  # type: ignore[no-any-return]


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The logarithm of softmax along `dim` (torch.masked.log_softmax)."""
    return _top.log_softmax(_filled(input, mask, -math.inf), *_dims(dim, input.ndim), dtype=dtype)  # type: ignore[no-any-return]


def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Softmax of the negatives along `dim` (torch.masked.softmin)."""
    return _top.softmax(-_filled(input, mask, math.inf), *_dims(dim, input.ndim), dtype=dtype)  # type: ignore[no-any-return]


def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The input over its norm along `dim`, which counts as `eps` at least (torch.masked.normalize)."""
    size: Any = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return _filled(input, mask, 0) / size.clamp_min(eps)  # type: ignore[no-any-return]
