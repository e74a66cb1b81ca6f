"""sort, argsort, topk and kthvalue. Sorts are stable; nan counts as the largest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, preserved_strides, wrap_dim
from ...declare import composite, kernel, public
from ...tensor import Tensor
from ..index import gather_op, gathered_back, scatter_op
from ..shape import squeeze_dim, unsqueeze
from ..shared import return_type, zeros

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema import Op


_RETURNS = {name: return_type(name, "values indices") for name in ("sort", "topk", "kthvalue")}


def _order(xp: Any, a: Any, dim: int, descending: bool) -> Any:
    """Indices that sort along `dim`, stably, with nan as the largest."""
    if not descending:
        return xp.argsort(a, axis=dim, kind="stable")
    back = xp.argsort(xp.flip(a, axis=dim), axis=dim, kind="stable")
    return a.shape[dim] - 1 - xp.flip(back, axis=dim)


def _picked(xp: Any, a: Any, dim: int, descending: bool, count: int | None = None) -> tuple[Any, Any]:
    if not a.ndim:
        return a.copy(), xp.zeros((), xp.int64)
    at = _order(xp, a, dim, descending)
    if count is not None:
        at = xp.take(at, xp.arange(count), axis=dim)
    return xp.take_along_axis(a, at, axis=dim), at


def _spread(grads: Sequence[Any], out1: Any, input_meta: Any, dim: int) -> Any:
    """The gradient of picked values, put back where they came from."""
    if grads[0] is None:
        return None
    return gathered_back(grads[0], out1, input_meta.shape, dim)


def _picked_tangent(input_t: Any, outs: Sequence[Any], dim: int) -> list[Any]:
    return [gather_op(input_t, dim, outs[1]), None]


def _sort_infer(input: Tensor, dim: int, descending: bool, stable: bool | None) -> list[Meta]:
    if input.dtype.is_complex:
        raise RuntimeError(" Sort does not support complex dtypes on CPU")
    wrap_dim(dim, input.ndim)
    shape, strides = tuple(input.shape), preserved_strides(input)
    return [Meta(shape, input.dtype, strides), Meta(shape, dtypes.int64, strides)]


_sort: Op = kernel(
    "sort(Tensor input, int dim=-1, bool descending=False, *, bool? stable=None)"
    " -> (Tensor values, const Tensor indices)",
    infer=_sort_infer,
    impl=lambda xp, a, dim, descending, stable: _picked(xp, a, dim, descending),
    vjp={"input": lambda grads, out1, input_meta, dim: _spread(grads, out1, input_meta, dim)},
    jvp=lambda input_t, outs, dim: _picked_tangent(input_t, outs, dim),
    node=lambda attrs: "SortBackward0" if attrs["stable"] is None else "SortBackward1",
    doc="Values sorted along `dim`, and their indices (torch.sort); always stable.",
    raises=False,
)


@public(method=True, out=True)
def sort(input: Any, dim: int = -1, descending: bool = False, stable: bool | None = None) -> Any:
    """See torch.sort."""
    return _RETURNS["sort"](*_sort(input, dim, descending, stable=stable))


argsort_op = composite(
    "argsort(Tensor input, int dim=-1, bool descending=False, *, bool stable=False) -> Tensor",
    body=lambda input, dim, descending, stable: _sort(input, dim, descending)[1],
    doc="The indices that sort along `dim` (torch.argsort).",
)


@public(method=True, out=True)
def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """See torch.argsort."""
    return argsort_op(input, dim, descending, stable=stable)


msort = composite(
    "msort(Tensor input) -> Tensor",
    body=lambda input: _sort(input, 0)[0],
    out=True,
    method=True,
    doc="Values sorted along the first dimension (torch.msort).",
)


def _topk_infer(input: Tensor, k: int, dim: int, largest: bool, sorted: bool) -> list[Meta]:
    d = wrap_dim(dim, input.ndim)
    if not 0 <= k <= (input.shape[d] if input.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if input.dtype.is_complex:
        raise RuntimeError(" topk does not support complex dtypes on CPU")
    if input.dtype is dtypes.bool_:
        raise RuntimeError("topk does not support bool dtypes on CPU")
    shape = (*input.shape[:d], k, *input.shape[d + 1 :]) if input.ndim else ()
    return [Meta(shape, input.dtype), Meta(shape, dtypes.int64)]


_topk: Op = kernel(
    "topk(Tensor input, int k, int dim=-1, bool largest=True, bool sorted=True)"
    " -> (Tensor values, const Tensor indices)",
    infer=_topk_infer,
    impl=lambda xp, a, k, dim, largest, sorted: _picked(xp, a, dim, largest, k),
    vjp={"input": lambda grads, out1, input_meta, dim: _spread(grads, out1, input_meta, dim)},
    jvp=lambda input_t, outs, dim: _picked_tangent(input_t, outs, dim),
    doc="The `k` largest (or smallest) elements along `dim`, sorted, and their indices (torch.topk).",
    raises=False,
)


@public(method=True, out=True)
def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """See torch.topk; the result is always sorted, whatever `sorted` says."""
    return _RETURNS["topk"](*_topk(input, k, dim, largest, sorted))


def _kthvalue_infer(input: Tensor, k: int, dim: int, keepdim: bool) -> list[Meta]:
    d = wrap_dim(dim, input.ndim)
    if not 1 <= k <= (input.shape[d] if input.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {d}")
    shape: tuple[int, ...] = ()
    if input.ndim:
        shape = (*input.shape[:d], *([1] if keepdim else []), *input.shape[d + 1 :])
    return [Meta(shape, input.dtype), Meta(shape, dtypes.int64)]


def _kthvalue_impl(xp: Any, a: Any, k: int, dim: int, keepdim: bool) -> tuple[Any, Any]:
    if not a.ndim:
        return a.copy(), xp.zeros((), xp.int64)
    at = xp.take(_order(xp, a, dim, False), xp.arange(k - 1, k), axis=dim)
    found = xp.take_along_axis(a, at, axis=dim)
    return (found, at) if keepdim else (xp.squeeze(found, dim), xp.squeeze(at, dim))


def _kth_backward(grads: Sequence[Any], out1: Any, input_meta: Any, dim: int, keepdim: bool) -> Any:
    g = grads[0]
    if not keepdim and input_meta.ndim:
        g, out1 = (
            unsqueeze(g, wrap_dim(dim, input_meta.ndim)),
            unsqueeze(out1, wrap_dim(dim, input_meta.ndim)),
        )
    return scatter_op(zeros(list(input_meta.shape), dtype=g.dtype), dim, out1, g)


def _kth_tangent(input_t: Any, outs: Sequence[Any], dim: int, keepdim: bool) -> list[Any]:
    at = outs[1]
    if keepdim or not input_t.ndim:
        return [gather_op(input_t, dim, at), None]
    d = wrap_dim(dim, input_t.ndim)
    return [squeeze_dim(gather_op(input_t, d, unsqueeze(at, d)), d), None]


_kthvalue: Op = kernel(
    "kthvalue(Tensor input, int k, int dim=-1, bool keepdim=False) -> (Tensor values, const Tensor indices)",
    infer=_kthvalue_infer,
    impl=_kthvalue_impl,
    vjp={
        "input": lambda grads, out1, input_meta, dim, keepdim: _kth_backward(
            grads, out1, input_meta, dim, keepdim
        )
    },
    jvp=lambda input_t, outs, dim, keepdim: _kth_tangent(input_t, outs, dim, keepdim),
    doc="The `k`-th smallest element along `dim`, and its index (torch.kthvalue).",
    raises=False,
)


@public(method=True, out=True)
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """See torch.kthvalue."""
    return _RETURNS["kthvalue"](*_kthvalue(input, k, dim, keepdim))
