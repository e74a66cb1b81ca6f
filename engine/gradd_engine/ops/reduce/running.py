"""Cumulative extremes and logcumsumexp.

The gradient of logcumsumexp is a recurrence whose factors are at most 1 (for real numbers), so it neither
overflows nor cancels.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, wrap_dim
from ...declare import Joint, kernel, public
from ...kernels import accumulate
from ...schema import Op
from ..elementwise import exp
from ..index import gather_op, gathered_back
from ..shared import conj, refuse, return_type
from .scans import recurrence, shift

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...tensor import Tensor


def _extreme(name: str) -> Callable[..., Any]:
    returns = return_type(name, "values indices")

    def infer(input: Tensor, dim: int) -> list[Meta]:
        wrap_dim(dim, input.ndim)
        refuse(input.dtype, f"{name}_cpu", complex=True)
        shape = tuple(input.shape)
        return [Meta(shape, input.dtype, compute=input.dtype), Meta(shape, dtypes.int64)]

    def impl(xp: Any, a: Any, dim: int) -> Any:
        if not a.ndim:
            return a.copy(), xp.zeros((), xp.int64)
        values = accumulate(xp, f"{name[3:]}imum", a, dim)
        # the last of ties, and the last nan
        places = xp.arange(a.shape[dim]).reshape([-1 if i == dim % a.ndim else 1 for i in range(a.ndim)])
        taken = xp.where((a == values) | (a != a), places, 0)
        return values, accumulate(xp, "maximum", taken, dim)

    def vjp(grads: Any, out1: Any, input: Any, dim: int) -> Any:
        return (gathered_back(grads[0], out1, input.shape, dim),)

    made = kernel(
        f"{name}(Tensor input, int dim) -> (Tensor values, const Tensor indices)",
        infer=infer,
        impl=impl,
        vjp=Joint("input", vjp),
        jvp=lambda input_t, outs, dim: [gather_op(input_t, dim, outs[1]), None],
        doc=f"The cumulative {name[3:]}imum along `dim` and its index, the last of ties (torch.{name}).",
        raises=False,
    )

    def call(input: Tensor, dim: int) -> Any:
        return returns(*made(input, dim))

    call.__name__ = name
    call.__doc__ = f"See torch.{name}."
    return public(name=name, method=True, out=True)(call)


cummax, cummin = _extreme("cummax"), _extreme("cummin")


def _logcumsumexp_infer(input: Tensor, dim: int) -> Meta:
    wrap_dim(dim, input.ndim)
    refuse(input.dtype, "logcumsumexp_out_cpu", integer=True)
    return Meta(tuple(input.shape), input.dtype, compute=input.dtype)


def _logcumsumexp(xp: Any, a: Any, dim: int) -> Any:
    if not a.ndim or not a.size:
        return a.copy()
    if a.dtype.kind != "c":
        return accumulate(xp, "logaddexp", a, dim)
    x = xp.moveaxis(a, dim, 0)
    out = xp.empty_like(x)
    out[0] = x[0]
    for i in range(1, len(x)):
        more = x[i].real > out[i - 1].real
        top, low = xp.where(more, x[i], out[i - 1]), xp.where(more, out[i - 1], x[i])
        out[i] = top + xp.log1p(xp.exp(low - top))
    return xp.moveaxis(out, 0, dim)


def _logcumsumexp_vjp(g: Any, input: Any, out: Any, dim: int) -> Any:
    if not g.ndim or not g.numel():
        return g
    fade = conj(exp(out - shift(out, dim, False, math.inf)))
    return conj(exp(input - out)) * recurrence(fade, g, dim, False)


def _logcumsumexp_jvp(input_t: Any, input: Any, out: Any, dim: int) -> Any:
    fade = exp(shift(out, dim, True, -math.inf) - out)
    return recurrence(fade, exp(input - out) * input_t, dim, True)


logcumsumexp: Op = kernel(
    "logcumsumexp(Tensor input, int dim) -> Tensor",
    infer=_logcumsumexp_infer,
    impl=_logcumsumexp,
    vjp=_logcumsumexp_vjp,
    jvp=_logcumsumexp_jvp,
    method=True,
    doc="The logarithm of the cumulative sum of exponentials along `dim` (torch.logcumsumexp).",
    raises=False,
)
