"""Variance and standard deviation, alone and with the mean."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, numel, warn
from ...declare import Joint, kernel, public
from ...schema import Op
from ...tensor import Tensor
from ..elementwise import where
from .reductions import axes, collect, filled, mean, reduced, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Dims = int | Sequence[int] | None


def _freedom(input: Any, dim: Dims, correction: Any) -> float:
    """The divisor: the number of elements minus the correction."""
    return float(numel([input.shape[i] for i in axes(input, dim)])) - (
        1.0 if correction is None else correction
    )


def _infer(name: str) -> Callable[..., Meta]:
    def infer(input: Tensor, dim: Dims, correction: Any, keepdim: bool) -> Meta:
        if input.dtype.category < dtypes.FLOAT:
            raise RuntimeError(f"{name} only support floating point and complex dtypes")
        return reduced(input, dim, keepdim, dtypes.to_real(input.dtype), input.dtype)

    return infer


def _var(xp: Any, a: Any, dim: Dims, correction: Any, keepdim: bool) -> Any:
    over = axes(a, dim)
    number = a.real.dtype.type
    count = number(numel([a.shape[i] for i in over]))
    d = a - a.sum(axis=over, dtype=a.dtype, keepdims=True) / count
    squares = (d * d if d.dtype.kind == "f" else d.real * d.real + d.imag * d.imag).sum(
        axis=over, keepdims=keepdim
    )
    return squares / number(max(0.0, _freedom(a, dim, correction)))


def _std(xp: Any, a: Any, dim: Dims, correction: Any, keepdim: bool) -> Any:
    return xp.sqrt(_var(xp, a, dim, correction, keepdim))


def _var_factor(input: Any, dim: Dims, correction: Any) -> Any:
    """The derivative of the variance; nan or inf without degrees of freedom, as in PyTorch."""
    d = input - mean(input, dim, True)
    free = _freedom(input, dim, correction)
    if free <= 0:
        return where(d == 0, math.nan, math.inf)
    return d * (2.0 / free)


def _var_vjp(g: Any, input: Any, dim: Dims, correction: Any, keepdim: bool) -> Any:
    return spread(g, input, dim, keepdim) * _var_factor(input, dim, correction)


def _std_vjp(g: Any, input: Any, dim: Dims, correction: Any, keepdim: bool, out: Any) -> Any:
    return _var_vjp(where(out == 0, 0.0, g / (out * 2)), input, dim, correction, keepdim)


def _var_jvp(input_t: Any, input: Any, dim: Dims, correction: Any, keepdim: bool, out: Any) -> Any:
    return collect(input_t, _var_factor(input, dim, correction), dim, keepdim, out)


def _std_jvp(input_t: Any, input: Any, dim: Dims, correction: Any, keepdim: bool, out: Any) -> Any:
    change = _var_jvp(input_t, input, dim, correction, keepdim, out)
    return where(out == 0, 0.0, change / (out * 2))


_SIGNATURE = "(Tensor input, int[]? dim=None, *, Number? correction=None, bool keepdim=False)"

_var_op: Op = kernel(
    f"var{_SIGNATURE} -> Tensor",
    infer=_infer("std and var"),
    impl=_var,
    vjp=_var_vjp,
    jvp=_var_jvp,
    doc="Variance over `dim` or over all, divided by the count minus `correction` (1 by default) "
    "(torch.var).",
    raises=False,
)
_std_op: Op = kernel(
    f"std{_SIGNATURE} -> Tensor",
    infer=_infer("std and var"),
    impl=_std,
    vjp=_std_vjp,
    jvp=_std_jvp,
    doc="Standard deviation over `dim` or over all (torch.std).",
    raises=False,
)


def _pair_infer(name: str) -> Callable[..., list[Meta]]:
    spread_infer = _infer(name)

    def infer(input: Tensor, dim: Dims, correction: Any, keepdim: bool) -> list[Meta]:
        first = spread_infer(input, dim, correction, keepdim)
        return [first, Meta(first.shape, input.dtype, compute=input.dtype)]

    return infer


def _with_mean(kernel: Callable[..., Any]) -> Callable[..., Any]:
    def impl(xp: Any, a: Any, dim: Dims, correction: Any, keepdim: bool) -> Any:
        over = axes(a, dim)
        total = a.sum(axis=over, dtype=a.dtype, keepdims=keepdim)
        return kernel(xp, a, dim, correction, keepdim), total / numel([a.shape[i] for i in over])

    return impl


def _var_mean_vjp(grads: Any, input: Any, dim: Dims, correction: Any, keepdim: bool) -> Any:
    g, second = grads
    total = None if g is None else _var_vjp(g, input, dim, correction, keepdim)
    return (_mean_too(total, second, input, dim, keepdim),)


def _std_mean_vjp(grads: Any, input: Any, dim: Dims, correction: Any, keepdim: bool, out0: Any) -> Any:
    g, second = grads
    total = None if g is None else _std_vjp(g, input, dim, correction, keepdim, out0)
    return (_mean_too(total, second, input, dim, keepdim),)


def _mean_too(total: Any, g: Any, input: Any, dim: Dims, keepdim: bool) -> Any:
    """The gradient so far, plus the part from the mean."""
    if g is None:
        return total
    part = filled(g, input, dim, keepdim) / numel([input.shape[i] for i in axes(input, dim)])
    return part if total is None else total + part


def _pair_jvp(rule: Callable[..., Any]) -> Callable[..., Any]:
    def jvp(input_t: Any, input: Any, dim: Dims, correction: Any, keepdim: bool, outs: Any) -> Any:
        return rule(input_t, input, dim, correction, keepdim, outs[0]), mean(input_t, dim, keepdim)

    return jvp


_var_mean_op: Op = kernel(
    f"var_mean{_SIGNATURE} -> (Tensor var, Tensor mean)",
    infer=_pair_infer("var_mean"),
    impl=_with_mean(_var),
    vjp=Joint("input", _var_mean_vjp),
    jvp=_pair_jvp(_var_jvp),
    doc="Variance and mean (torch.var_mean).",
    raises=False,
)
_std_mean_op: Op = kernel(
    f"std_mean{_SIGNATURE} -> (Tensor std, Tensor mean)",
    infer=_pair_infer("std_mean"),
    impl=_with_mean(_std),
    vjp=Joint("input", _std_mean_vjp),
    jvp=_pair_jvp(_std_jvp),
    doc="Standard deviation and mean (torch.std_mean).",
    raises=False,
)


def _published(made: Op, method: bool) -> None:
    """Publish PyTorch's signatures: (unbiased), (dim, unbiased, keepdim), (dim, *, correction, keepdim)."""

    def call(
        input: Tensor,
        dim: Any = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: Any = None,
    ) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if unbiased is not None:
            correction = int(unbiased)
        if _freedom(input, dim, correction) <= 0:
            warn(
                f"{made.name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
                "reduction factor (input numel divided by output numel)."
            )
        return made(input, dim, correction=correction, keepdim=keepdim)

    call.__name__ = made.name
    call.__doc__ = f"See torch.{made.name}."
    public(name=made.name, method=method, out=made.name in ("std", "var"))(call)


_published(_var_op, True)
_published(_std_op, True)
_published(_var_mean_op, False)
_published(_std_mean_op, False)
