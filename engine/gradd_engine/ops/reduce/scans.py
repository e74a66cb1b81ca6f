"""Cumulative sums and products along a dimension.

The gradient of a cumulative product is a first-order linear recurrence, exact with zeros. The recurrence and
the shift are ops that are their own transposes, reversed, so derivatives of every order are exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, wrap_dim
from ...declare import LINEAR, kernel
from ...schema import Op
from ...tensor import Tensor
from ..shared import broadcast, conj

if TYPE_CHECKING:
    from ...data import DType


def _infer(input: Tensor, dim: int, dtype: DType | None) -> Meta:
    wrap_dim(dim, input.ndim)
    found = dtype or (dtypes.int64 if input.dtype.category < dtypes.FLOAT else input.dtype)
    return Meta(tuple(input.shape), found, compute=found)


def _from_end(xp: Any, a: Any, dim: int, reverse: bool) -> Any:
    """The cumulative sum, from the end if `reverse`."""
    if not a.ndim:
        return a.copy()
    if not reverse:
        return xp.cumsum(a, axis=dim, dtype=a.dtype)
    return xp.flip(xp.cumsum(xp.flip(a, axis=dim), axis=dim, dtype=a.dtype), axis=dim)


cumsum: Op = kernel(
    "cumsum(Tensor input, int dim, *, dtype? dtype=None) -> Tensor",
    infer=_infer,
    impl=lambda xp, a, dim, dtype: _from_end(xp, a, dim, False),
    vjp=lambda g, dim: _cumsum_back(g, dim),
    jvp=LINEAR,
    method=True,
    inplace=True,
    doc="Cumulative sum along `dim` (torch.cumsum); bools and integers give int64.",
    raises=False,
    autocast={"cuda": "float32 result"},
)
_cumsum_back: Op = kernel(
    "cumsum_back(Tensor input, int dim) -> Tensor",
    infer=lambda input, dim: _infer(input, dim, None),
    impl=lambda xp, a, dim: _from_end(xp, a, dim, True),
    vjp=lambda g, dim: cumsum(g, dim),
    jvp=LINEAR,
    namespace="-",
    outside=True,
    doc="Cumulative sum from the end: the transpose of `cumsum`.",
    raises=False,
)


def _shift_kernel(xp: Any, a: Any, dim: int, forward: bool, fill: float) -> Any:
    if not a.ndim:
        return xp.full_like(a, fill)
    x = xp.moveaxis(a, dim, 0)
    out = xp.full_like(x, fill)
    if forward:
        out[1:] = x[:-1]
    else:
        out[:-1] = x[1:]
    return xp.moveaxis(out, 0, dim)


shift: Op = kernel(
    "shift(Tensor input, int dim, bool forward, float fill=0.0) -> Tensor",
    infer=lambda input, dim, forward, fill: Meta(tuple(input.shape), input.dtype),
    impl=_shift_kernel,
    vjp=lambda g, dim, forward: shift(g, dim, not forward),
    jvp=lambda input_t, dim, forward: shift(input_t, dim, forward),
    namespace="-",
    outside=True,
    doc="Elements shifted by one along `dim`; `fill` enters, the last one drops out.",
    raises=False,
)


def _recur(xp: Any, a: Any, b: Any, dim: int, forward: bool) -> Any:
    if not b.ndim:
        return b.copy()
    x, y = xp.moveaxis(a, dim, 0), xp.moveaxis(b, dim, 0)
    out = xp.empty_like(y)
    order = range(len(y)) if forward else range(len(y) - 1, -1, -1)
    last = None
    for i in order:
        out[i] = y[i] if last is None else y[i] + x[i] * last
        last = out[i]
    return xp.moveaxis(out, 0, dim)


def _recurrence_a(g: Any, input: Any, out: Any, dim: int, forward: bool) -> Any:
    return _recurrence_b(g, input, dim, forward) * conj(shift(out, dim, forward))


def _recurrence_b(g: Any, input: Any, dim: int, forward: bool) -> Any:
    return recurrence(conj(shift(input, dim, not forward)), g, dim, not forward)


def _recurrence_jvp(input_t: Any, other_t: Any, input: Any, out: Any, dim: int, forward: bool) -> Any:
    change = other_t
    if input_t is not None:
        part = input_t * shift(out, dim, forward)
        change = part if change is None else change + part
    return recurrence(input, change, dim, forward)


recurrence: Op = kernel(
    "recurrence(Tensor input, Tensor other, int dim, bool forward) -> Tensor",
    infer=lambda input, other, dim, forward: broadcast(input, other),
    impl=_recur,
    vjp=(_recurrence_a, _recurrence_b),
    jvp=_recurrence_jvp,
    namespace="-",
    outside=True,
    doc="s[k] = other[k] + input[k] * s[k - 1] along `dim`; from the end, with s[k + 1], unless `forward`.",
)


def _cumprod_vjp(g: Any, input: Any, out: Any, dim: int) -> Any:
    """The product of the elements before, times the gradients after, each with the product in between."""
    if input.numel() <= 1:
        return g
    x = conj(input if input.dtype is g.dtype else input.type_as(g))
    before = cumprod(shift(x, dim, True, 1.0), dim)
    return before * recurrence(shift(x, dim, False), g, dim, False)


def _cumprod_jvp(input_t: Any, input: Any, out: Any, dim: int) -> Any:
    x = input if input.dtype is out.dtype else input.type_as(out)
    before = cumprod(shift(x, dim, True, 1.0), dim)
    return recurrence(x, before * input_t, dim, True)


cumprod: Op = kernel(
    "cumprod(Tensor input, int dim, *, dtype? dtype=None) -> Tensor",
    infer=_infer,
    impl=lambda xp, a, dim, dtype: xp.cumprod(a, axis=dim, dtype=a.dtype) if a.ndim else a.copy(),
    vjp=_cumprod_vjp,
    jvp=_cumprod_jvp,
    method=True,
    inplace=True,
    doc="Cumulative product along `dim` (torch.cumprod); the gradient is exact with zeros.",
    raises=False,
    autocast={"cuda": "float32 result"},
)
