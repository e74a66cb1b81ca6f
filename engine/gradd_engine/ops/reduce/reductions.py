"""Sums, means and products over dimensions.

Rules here write the gradient as the output's, spread over the reduced dimensions, times a factor; forward
mode sums the factor times the tangent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, numel, reduced_shape, wrap_dims
from ...declare import LINEAR, composite, kernel
from ...schema import Op, named
from ...tensor import Tensor
from ..elementwise import where
from ..shared import conj

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...data import DType

    Dims = int | Sequence[int] | None


def axes(input: Any, dim: Dims) -> tuple[int, ...]:
    """The reduced dimensions, counted from the front; all if none are given."""
    found = wrap_dims(dim, input.ndim)
    return found if input.ndim else ()


def spread(g: Any, input: Any, dim: Dims, keepdim: bool) -> Any:
    """A reduced result or its gradient, with ones as reduced dimensions to broadcast over `input`."""
    if keepdim or not input.ndim:
        return g
    return g.reshape(list(reduced_shape(input.shape, axes(input, dim), True)))


def filled(g: Any, input: Any, dim: Dims, keepdim: bool) -> Any:
    """Like `spread`, expanded to the shape of `input`."""
    return named.expand(spread(g, input, dim, keepdim) if g.shape else g, list(input.shape))


def collect(t: Any, factor: Any, dim: Dims, keepdim: bool, out: Any) -> Any:
    """The tangent of a reduction whose gradient is g times `factor`."""
    from ...graph import cast_gradient

    return cast_gradient(sum(t * conj(factor), dim, keepdim), out.dtype)


def _sum_dtype(input: Tensor, dtype: DType | None) -> DType:
    if dtype is not None:
        return dtype
    return dtypes.int64 if input.dtype.category < dtypes.FLOAT else input.dtype


def reduced(input: Tensor, dim: Dims, keepdim: bool, dtype: DType, compute: DType | None = None) -> Meta:
    """The geometry of a reduction's result: row-major."""
    shape = reduced_shape(input.shape, axes(input, dim), keepdim)
    return Meta(shape, dtype, compute=dtype if compute is None else compute)


def _by_dim(name: str) -> Callable[[dict[str, Any]], str]:
    """Node names of ops that PyTorch has without dimensions (0) and with them (1)."""
    return lambda attrs: f"{name}Backward{0 if attrs['dim'] is None else 1}"


sum: Op = kernel(
    "sum(Tensor input, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    infer=lambda input, dim, keepdim, dtype: reduced(input, dim, keepdim, _sum_dtype(input, dtype)),
    impl=lambda xp, a, dim, keepdim, dtype: a.sum(axis=axes(a, dim), dtype=a.dtype, keepdims=keepdim),
    vjp=lambda g, input_meta, dim, keepdim: filled(g, input_meta, dim, keepdim),
    jvp=LINEAR,
    node=_by_dim("Sum"),
    method=True,
    doc="Sum over `dim` or over all (torch.sum); bools and integers give int64.",
    raises=False,
    autocast={"cuda": "float32 result"},
)


def _nansum_infer(input: Tensor, dim: Dims, keepdim: bool, dtype: DType | None) -> Meta:
    if input.dtype.is_complex:
        raise RuntimeError("nansum does not support complex inputs")
    return reduced(input, dim, keepdim, _sum_dtype(input, dtype))


nansum: Op = kernel(
    "nansum(Tensor input, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    infer=_nansum_infer,
    impl=lambda xp, a, dim, keepdim, dtype: xp.where(a != a, a.dtype.type(0), a).sum(
        axis=axes(a, dim), dtype=a.dtype, keepdims=keepdim
    ),
    vjp=lambda g, input, dim, keepdim: where(input != input, 0.0, filled(g, input, dim, keepdim)),
    jvp=lambda input_t, input, dim, keepdim: sum(where(input != input, 0.0, input_t), dim, keepdim),
    method=True,
    doc="Sum with nan counted as 0 (torch.nansum).",
    raises=False,
)


def _mean_infer(input: Tensor, dim: Dims, keepdim: bool, dtype: DType | None) -> Meta:
    found = dtype or input.dtype
    if found.category < dtypes.FLOAT:
        source = "Optional dtype" if dtype is not None else "Input dtype"
        raise RuntimeError(
            f"mean(): could not infer output dtype. {source} must be either a floating point or complex "
            f"dtype. Got: {found.title}"
        )
    return reduced(input, dim, keepdim, found)


def _count(input: Any, dim: Dims) -> int:
    return numel([input.shape[i] for i in axes(input, dim)])


def _mean(xp: Any, a: Any, dim: Dims, keepdim: bool, dtype: Any) -> Any:
    total = a.sum(axis=axes(a, dim), dtype=a.dtype, keepdims=keepdim)
    return total / total.dtype.type(_count(a, dim))


mean: Op = kernel(
    "mean(Tensor input, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    infer=_mean_infer,
    impl=_mean,
    vjp=lambda g, input_meta, dim, keepdim: filled(g, input_meta, dim, keepdim) / _count(input_meta, dim),
    jvp=LINEAR,
    node=_by_dim("Mean"),
    method=True,
    doc="Mean over `dim` or over all (torch.mean); floating-point and complex only.",
    raises=False,
)


def _nanmean(input: Tensor, dim: Dims, keepdim: bool, dtype: DType | None) -> Any:
    if input.dtype.category < dtypes.FLOAT:
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {input.dtype.title}"
        )
    count = sum(input == input, dim, keepdim)
    return nansum(input, dim, keepdim, dtype=dtype) / count


nanmean: Op = composite(
    "nanmean(Tensor input, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    body=_nanmean,
    out=True,
    method=True,
    doc="Mean that ignores nan (torch.nanmean).",
)


# -- products --------------------------------------------------------------------------------------


def _others(xp: Any, a: Any, dim: int) -> Any:
    """For each element the product of the others along `dim`, exact with zeros."""
    if not a.ndim:
        return xp.ones(a.shape, a.dtype)
    x = xp.moveaxis(a, dim, 0)
    before = xp.ones_like(x)
    after = xp.ones_like(x)
    if x.shape[0] > 1:
        before[1:] = xp.cumprod(x[:-1], axis=0)
        after[:-1] = xp.cumprod(x[:0:-1], axis=0)[::-1]
    return xp.moveaxis(before * after, 0, dim)


def _itself_infer(input: Tensor, dim: int) -> Meta:
    shape = [1] * (input.ndim + 1)
    shape[dim] = shape[-1] = input.shape[dim]
    return Meta(tuple(shape), dtypes.bool_)


_itself: Op = kernel(
    "itself(Tensor input, int dim) -> Tensor",
    infer=_itself_infer,
    impl=lambda xp, a, dim, meta: xp.eye(a.shape[dim], dtype=bool).reshape(meta.shape),
    namespace="-",
    outside=True,
    doc="Whether the index along `dim` equals the index along a new last dimension.",
)


def _others_again(input: Any, dim: int) -> Any:
    """The same in recorded ops: a product over a last dimension where the element itself counts as 1."""
    if not input.ndim:
        return prod_others(input.reshape([1]), 0).reshape([])
    rows = input.unsqueeze(-1).transpose(dim, -1)
    return prod(where(_itself(input, dim), 1.0, rows), -1)


def others_meta(input: Tensor, dim: int) -> Meta:
    """The geometry of `prod_others`."""
    return Meta(tuple(input.shape), input.dtype, compute=input.dtype)


prod_others: Op = kernel(
    "prod_others(Tensor input, int dim) -> Tensor",
    infer=others_meta,
    impl=_others,
    composite=_others_again,
    namespace="-",
    outside=True,
    doc="For each element the product of the others along `dim`.",
    raises=False,
)


def _prod_factor(input: Any, dim: int | None) -> Any:
    if dim is None:
        return prod_others(input.reshape([-1]), 0).reshape(list(input.shape))
    return prod_others(input, wrap_dims(dim, input.ndim)[0])


def _prod_vjp(g: Any, input: Any, out: Any, dim: int | None, keepdim: bool) -> Any:
    if not input.ndim:
        return g
    return filled(g, input, dim, keepdim) * conj(_prod_factor(input, dim))


prod: Op = kernel(
    "prod(Tensor input, int? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    infer=lambda input, dim, keepdim, dtype: reduced(input, dim, keepdim, _sum_dtype(input, dtype)),
    impl=lambda xp, a, dim, keepdim, dtype: a.prod(axis=axes(a, dim), dtype=a.dtype, keepdims=keepdim),
    vjp=_prod_vjp,
    jvp=lambda input_t, input, dim, keepdim, out: collect(
        input_t, conj(_prod_factor(input, dim)), dim, keepdim, out
    ),
    node=_by_dim("Prod"),
    method=True,
    doc="Product over one dimension or over all (torch.prod); the gradient is exact with zeros.",
    raises=False,
    autocast={"cpu": "float32", "cuda": "float32 result"},
)
