"""More element-wise functions of two or three tensors: angles, logarithms, interpolation, fused products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes
from ...declare import elementwise
from ...schema import Op
from ...tensor import Tensor
from ..shared import (
    CPP,
    broadcast,
    broadcast_float,
    computed_in,
    conj,
    fits,
    pointwise_meta,
    refuse,
    stored,
    zeros_like,
)
from .binary import log_of, where
from .unary import exp, log

if TYPE_CHECKING:
    from collections.abc import Callable


def real_float(kernel: str) -> Callable[..., Meta]:
    """`broadcast_float` of two operands, refusing complex dtypes."""

    def infer(input: Any, other: Any) -> Meta:
        meta = broadcast_float(input, other)
        refuse(meta.dtype, kernel, complex=True)
        return meta

    return infer


def _over_square(numerator: Any, input: Any, other: Any) -> Any:
    square = input * input + other * other
    return where(square == 0, 0.0, numerator / square)


atan2: Op = elementwise(
    "atan2(Tensor input, Tensor other) -> Tensor",
    infer=real_float("atan2_cpu"),
    impl=lambda xp, a, b: xp.arctan2(a, b),
    vjp=(
        lambda g, input, other: g * _over_square(other, input, other),
        lambda g, input, other: g * _over_square(-input, input, other),
    ),
    method=True,
    inplace=True,
    doc="The angle of the point (other, input) (torch.atan2); its gradient at the origin is 0.",
    raises=False,
    autocast={"cuda": "widest"},
)


def _hypot_infer(input: Tensor, other: Tensor) -> Meta:
    meta = broadcast(input, other)
    refuse(meta.dtype, "hypot_cpu", complex=True, integer=True)
    return meta


hypot: Op = elementwise(
    "hypot(Tensor input, Tensor other) -> Tensor",
    infer=_hypot_infer,
    impl=lambda xp, a, b: xp.hypot(a, b),
    vjp=(lambda g, input, out: g * (input / out), lambda g, other, out: g * (other / out)),
    method=True,
    inplace=True,
    doc="sqrt(input**2 + other**2) (torch.hypot).",
    raises=False,
)


def _logaddexp_infer(input: Tensor, other: Tensor) -> Meta:
    meta = broadcast(input, other)
    refuse(meta.dtype, "logaddexp_cpu", integer=True)
    return meta


def _logaddexp2_infer(input: Tensor, other: Tensor) -> Meta:
    meta = broadcast(input, other)
    refuse(meta.dtype, "logaddexp2_cpu", complex=True, integer=True)
    return meta


def _logaddexp(xp: Any, a: Any, b: Any) -> Any:
    if a.dtype.kind != "c":
        return xp.logaddexp(a, b)
    a, b = xp.broadcast_arrays(a, b)
    high, low = xp.where(a.real < b.real, b, a), xp.where(a.real < b.real, a, b)
    # of two infinite ones the difference says nothing
    return xp.where(xp.isinf(high.real) & (high == low), high, high + xp.log1p(xp.exp(low - high)))


logaddexp: Op = elementwise(
    "logaddexp(Tensor input, Tensor other) -> Tensor",
    infer=_logaddexp_infer,
    impl=_logaddexp,
    vjp=(
        lambda g, input, other: g / conj(exp(other - input) + 1),
        lambda g, input, other: g / conj(exp(input - other) + 1),
    ),
    method=True,
    doc="log(exp(input) + exp(other)) (torch.logaddexp).",
    raises=False,
)

logaddexp2: Op = elementwise(
    "logaddexp2(Tensor input, Tensor other) -> Tensor",
    infer=_logaddexp2_infer,
    impl=lambda xp, a, b: xp.logaddexp2(a, b),
    vjp=(
        lambda g, input, other: g / (2 ** (other - input) + 1),
        lambda g, input, other: g / (2 ** (input - other) + 1),
    ),
    method=True,
    doc="log2(2**input + 2**other) (torch.logaddexp2).",
    raises=False,
)


def _xlogy(xp: Any, a: Any, b: Any) -> Any:
    return xp.where((a == 0) & ~xp.isnan(b), a.dtype.type(0), a * xp.log(b))


def _xlogy_input(g: Any, input: Any, other: Any) -> Any:
    if isinstance(other, (int, float)):
        slope = log_of(other)
        return g * slope if other > 0 else g * where(input == 0, 0.0, slope)
    return g * where((input == 0) & (other <= 0), 0.0, log(other))


xlogy: Op = elementwise(
    "xlogy(Tensor|Number input, Tensor|Number other) -> Tensor",
    infer=real_float("xlogy_cpu"),
    impl=_xlogy,
    vjp=(
        _xlogy_input,
        lambda g, input, other: g * input / other,
    ),
    number_nodes={"input": "XlogyBackward1", "other": "XlogyBackward2"},
    method=True,
    inplace=True,
    namespace="|special",
    doc="input * log(other), 0 where the input is 0 (torch.xlogy).",
    raises=False,
)


def _copysign_vjp(g: Any, input: Any, out: Any) -> Any:
    return where(input == 0, 0.0, g * (out / input))


copysign: Op = elementwise(
    "copysign(Tensor input, Tensor|Number other) -> Tensor",
    infer=real_float("copysign_cpu"),
    impl=lambda xp, a, b: xp.copysign(a, b),
    vjp={"input": _copysign_vjp, "other": lambda g: zeros_like(g)},
    number_nodes={"other": "CopysignBackward1"},
    method=True,
    inplace=True,
    doc="The magnitude of `input` with the sign of `other` (torch.copysign).",
    raises=False,
)


# -- interpolation and fused products --------------------------------------------------------------


def _lerp_infer(input: Tensor, end: Tensor, weight: Any) -> Meta:
    for name, x in (("end", end), ("weight", weight)):
        if isinstance(x, Tensor) and x.dtype is not input.dtype:
            raise RuntimeError(
                f"expected dtype {CPP[input.dtype.name]} for `{name}` but got dtype {CPP[x.dtype.name]}"
            )
    refuse(
        input.dtype,
        "lerp_kernel_tensor" if isinstance(weight, Tensor) else "lerp_kernel_scalar",
        integer=True,
    )
    return pointwise_meta([input, end, weight], input.dtype, input.dtype)


def _lerp_weight(input: Tensor, end: Tensor, weight: Any) -> None:
    if input.dtype.category >= dtypes.FLOAT:
        fits(weight, computed_in(input.dtype))


def _lerp(xp: Any, a: Any, end: Any, weight: Any) -> Any:
    one = a.dtype.type(1)
    # from the nearer end, so that weight 1 gives exactly `end`
    return xp.where(xp.abs(weight) < 0.5, a + weight * (end - a), end - (end - a) * (one - weight))


lerp: Op = elementwise(
    "lerp(Tensor input, Tensor end, Tensor|Number weight) -> Tensor",
    infer=_lerp_infer,
    check_values=_lerp_weight,
    impl=_lerp,
    vjp=(
        lambda g, weight: g * (1 - conj(weight)),
        lambda g, weight: g * conj(weight),
        lambda g, input, end: g * conj(end - input),
    ),
    node="LerpBackward1",
    number_nodes={"weight": "LerpBackward0"},
    method=True,
    inplace=True,
    doc="input + weight * (end - input) (torch.lerp); dtypes must agree.",
    raises=False,
)


def _addcmul_infer(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any) -> Meta:
    meta = broadcast(input, tensor1, tensor2)
    refuse(meta.dtype, "addcmul_cpu_out", dtypes.bool_)
    fits(value, computed_in(meta.dtype))
    return meta


addcmul: Op = elementwise(
    "addcmul(Tensor input, Tensor tensor1, Tensor tensor2, *, value Number value=1) -> Tensor",
    infer=_addcmul_infer,
    impl=lambda xp, a, b, c, value: a + stored(value, a.dtype) * b * c,
    vjp=(
        lambda g: g,
        lambda g, tensor2, value: g * conj(tensor2 * value),
        lambda g, tensor1, value: g * conj(tensor1 * value),
    ),
    numbers_first="value",
    method=True,
    inplace=True,
    doc="input + value * tensor1 * tensor2 (torch.addcmul).",
    raises=False,
    autocast={"cuda": "widest"},
)


def _addcdiv_infer(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any) -> Meta:
    if tensor1.dtype.category < dtypes.FLOAT and tensor2.dtype.category < dtypes.FLOAT:
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will "
            "perform a true division of tensor1 and tensor2. The historic addcdiv behavior can be "
            "implemented as (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer "
            "inputs and as (input + value * tensor1 / tensor2) for float inputs. The future addcdiv "
            "behavior is just the latter implementation: (input + value * tensor1 / tensor2), for all "
            "dtypes."
        )
    meta = broadcast(input, tensor1, tensor2)
    fits(value, computed_in(meta.dtype))
    return meta


addcdiv: Op = elementwise(
    "addcdiv(Tensor input, Tensor tensor1, Tensor tensor2, *, value Number value=1) -> Tensor",
    infer=_addcdiv_infer,
    impl=lambda xp, a, b, c, value: a + stored(value, a.dtype) * b / c,
    vjp=(
        lambda g: g,
        lambda g, tensor2, value: g * conj(value / tensor2),
        lambda g, tensor1, tensor2, value: -g * conj(value * tensor1 / (tensor2 * tensor2)),
    ),
    numbers_first="value",
    method=True,
    inplace=True,
    doc="input + value * tensor1 / tensor2 (torch.addcdiv).",
    raises=False,
    autocast={"cuda": "widest"},
)
