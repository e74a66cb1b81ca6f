"""More activation functions: soft and hard forms of sigmoid, tanh and rectifiers, and glu."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ml_dtypes import finfo

from ...data import Meta, dtypes, elementwise_strides, wrap_dim
from ...declare import composite, elementwise, kernel
from ...schema import Op
from ...tensor import Tensor
from ..elementwise import abs, sigmoid, tanh, where
from ..shared import broadcast, contiguous_like, refuse, zeros_like
from .activations import F, floating, no_complex_bounds, published

if TYPE_CHECKING:
    from collections.abc import Callable


def _softplus_kernel(xp: Any, a: Any, beta: Any, threshold: Any) -> Any:
    number = a.dtype.type
    scaled = a * number(beta)
    return xp.where(
        scaled > threshold, a, xp.log1p(xp.exp(xp.minimum(scaled, number(threshold)))) / number(beta)
    )


def _softplus_vjp(g: Any, input: Any, beta: Any, threshold: Any) -> Any:
    scaled = input * beta
    # at the threshold itself the second derivative is already 0
    bent = where(scaled >= threshold, float(threshold), scaled)
    return where(scaled > threshold, g, g * sigmoid(bent))


softplus: Op = elementwise(
    "softplus(Tensor input, Number beta=1, Number threshold=20) -> Tensor",
    infer=floating("softplus_cpu"),
    impl=_softplus_kernel,
    vjp=_softplus_vjp,
    namespace=F,
    doc="log(1 + exp(beta * input)) / beta, or the input itself above the threshold "
    "(torch.nn.functional.softplus).",
    raises=False,
    autocast={"cuda": "float32"},
)


def _mish_vjp(g: Any, input: Any) -> Any:
    t = tanh(softplus(input))
    return g * (t + input * sigmoid(input) * (1 - t * t))


mish: Op = elementwise(
    "mish(Tensor input) -> Tensor",
    infer=floating("mish_cpu"),
    impl=lambda xp, a: a * xp.tanh(xp.logaddexp(a.dtype.type(0), a)),
    vjp=_mish_vjp,
    inplace=True,
    namespace=F,
    doc="input * tanh(softplus(input)) (torch.nn.functional.mish).",
    raises=False,
)
published(mish)


def _row_major(input: Tensor) -> Meta:
    floating("log_sigmoid_cpu")(input)
    return contiguous_like(input)


logsigmoid: Op = elementwise(
    "logsigmoid(Tensor input) -> Tensor",
    infer=_row_major,
    impl=lambda xp, a: xp.minimum(a, a.dtype.type(0)) - xp.log1p(xp.exp(-xp.abs(a))),
    vjp=lambda g, input: g * sigmoid(-input),
    node="LogSigmoidBackward0",
    namespace=F,
    doc="log(sigmoid(input)) (torch.nn.functional.logsigmoid).",
    raises=False,
)

softsign: Op = composite(
    "softsign(Tensor input) -> Tensor",
    body=lambda input: input / (abs(input) + 1),
    namespace=F,
    doc="input / (1 + |input|) (torch.nn.functional.softsign).",
)

tanhshrink: Op = composite(
    "tanhshrink(Tensor input) -> Tensor",
    body=lambda input: input - tanh(input),
    namespace=F,
    doc="input - tanh(input) (torch.nn.functional.tanhshrink).",
)


hardshrink_backward: Op = elementwise(
    "hardshrink_backward(Tensor grad_output, Tensor input, float lambd) -> Tensor",
    infer=lambda grad_output, input, lambd: broadcast(grad_output, input),
    impl=lambda xp, g, x, lambd: xp.where((x >= -lambd) & (x <= lambd), g.dtype.type(0), g),
    vjp=(lambda g, input, lambd: hardshrink_backward(g, input, lambd), lambda g: zeros_like(g)),
    namespace="-",
    outside=True,
    doc="The gradient where the input is outside of [-lambd, lambd] (or nan), otherwise 0.",
    raises=False,
)


def _shrunk(input: Tensor, lambd: float, name: str) -> Meta:
    meta = floating(f"{name}_cpu")(input)
    if name == "softshrink" and not 0 <= lambd < math.inf:
        largest = float(finfo(input.dtype.np).max)  # type: ignore[no-untyped-call]
        raise RuntimeError(
            f"lambda must be in range [0, {largest:g}] for input dtype {input.dtype.title}, but found "
            f"{lambd:g}"
        )
    return meta


def _shrinker(name: str, impl: Callable[..., Any], everywhere: bool = False) -> Op:
    return elementwise(
        f"{name}(Tensor input, float lambd=0.5) -> Tensor",
        infer=lambda input, lambd: _shrunk(input, lambd, name),
        impl=impl,
        vjp=lambda g, input, lambd: hardshrink_backward(g, input, lambd),
        method=everywhere,
        namespace=f"|{F}" if everywhere else F,
        doc=f"0 within [-lambd, lambd] (torch.nn.functional.{name}).",
        raises=False,
    )


softshrink = _shrinker(
    "softshrink",
    lambda xp, a, lambd: xp.where(
        a > lambd, a - a.dtype.type(lambd), xp.where(a < -lambd, a + a.dtype.type(lambd), a * a.dtype.type(0))
    ),
)
hardshrink = _shrinker(
    "hardshrink",
    lambda xp, a, lambd: xp.where((a >= -lambd) & (a <= lambd), a.dtype.type(0), a),
    everywhere=True,
)


def _hardtanh_infer(input: Tensor, min_val: Any, max_val: Any) -> Meta:
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    no_complex_bounds(input)
    return floating("hardtanh_cpu", integers=True)(input)


hardtanh_backward: Op = elementwise(
    "hardtanh_backward(Tensor grad_output, Tensor input, Number min_val, Number max_val) -> Tensor",
    infer=lambda grad_output, input, min_val, max_val: broadcast(grad_output, input),
    impl=lambda xp, g, x, min_val, max_val: xp.where((x <= min_val) | (x >= max_val), g.dtype.type(0), g),
    vjp=(
        lambda g, input, min_val, max_val: hardtanh_backward(g, input, min_val, max_val),
        lambda g: zeros_like(g),
    ),
    namespace="-",
    outside=True,
    doc="The gradient where the input is between the bounds (or nan), otherwise 0.",
    raises=False,
)

hardtanh: Op = elementwise(
    "hardtanh(Tensor input, Number min_val=-1.0, Number max_val=1.0) -> Tensor",
    infer=_hardtanh_infer,
    impl=lambda xp, a, min_val, max_val: xp.minimum(
        xp.maximum(a, a.dtype.type(min_val)), a.dtype.type(max_val)
    ),
    vjp=lambda g, input, min_val, max_val: hardtanh_backward(g, input, min_val, max_val),
    inplace=True,
    namespace=F,
    doc="Values clamped to [min_val, max_val] (torch.nn.functional.hardtanh); the gradient at a bound is 0.",
    raises="not of floats",
)
published(hardtanh)

relu6: Op = composite(
    "relu6(Tensor input) -> Tensor",
    body=lambda input: hardtanh(input, 0, 6),
    namespace=F,
    doc="The input clamped to [0, 6] (torch.nn.functional.relu6).",
)


def _relu6_(input: Tensor) -> Any:
    """The in-place form of `relu6`."""
    assert hardtanh.inplace is not None
    return hardtanh.inplace(input, 0, 6)


published(relu6, inplace=_relu6_)


def _sixth(xp: Any, a: Any) -> Any:
    number = a.dtype.type
    return xp.minimum(xp.maximum(a + number(3), number(0)), number(6)) / number(6)


hardsigmoid: Op = elementwise(
    "hardsigmoid(Tensor input) -> Tensor",
    infer=floating("hardsigmoid_cpu"),
    impl=_sixth,
    vjp=lambda g, input: where((input > -3) & (input < 3), g / 6, 0.0),
    inplace=True,
    namespace=F,
    doc="(input + 3) / 6, clamped to [0, 1] (torch.nn.functional.hardsigmoid).",
    raises=False,
)
published(hardsigmoid)

hardswish: Op = elementwise(
    "hardswish(Tensor input) -> Tensor",
    infer=floating("hardswish_cpu"),
    impl=lambda xp, a: a * _sixth(xp, a),
    vjp=lambda g, input: where(input <= -3, 0.0, where(input < 3, g * (input / 3 + 0.5), g)),
    inplace=True,
    namespace=F,
    doc="input * hardsigmoid(input) (torch.nn.functional.hardswish).",
    raises=False,
)
published(hardswish)


# -- glu -------------------------------------------------------------------------------------------


def _halves(a: Any, dim: int) -> tuple[Any, Any]:
    at = [slice(None)] * a.ndim
    half = a.shape[dim] // 2
    first, second = list(at), list(at)
    first[dim], second[dim] = slice(0, half), slice(half, None)
    return a[tuple(first)], a[tuple(second)]


def _glu_infer(input: Tensor, dim: int) -> Meta:
    if not input.ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    over = wrap_dim(dim, input.ndim)
    if input.shape[over] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {over} is size {input.shape[over]}"
        )
    refuse(input.dtype, "glu_cpu", dtypes.bool_, integer=True, complex=True)
    shape = tuple(n // 2 if i == over else n for i, n in enumerate(input.shape))
    half = Meta(shape, input.dtype, input.strides)
    return Meta(shape, input.dtype, elementwise_strides(shape, [half]), compute=input.dtype)


def _glu_kernel(xp: Any, a: Any, dim: int) -> Any:
    first, second = _halves(a, dim)
    return first / (a.dtype.type(1) + xp.exp(-second))


def _glu_backward_kernel(xp: Any, g: Any, a: Any, dim: int) -> Any:
    first, second = _halves(a, dim)
    one = a.dtype.type(1)
    s = one / (one + xp.exp(-second))
    return xp.concatenate([g * s, g * first * s * (one - s)], axis=dim)


def _glu_back(grad_output: Any, input: Any, dim: int) -> Any:
    from ..index import cat

    half = input.shape[dim] // 2
    first, second = input.narrow(dim, 0, half), input.narrow(dim, half, half)
    s = sigmoid(second)
    return cat([grad_output * s, grad_output * first * s * (1 - s)], dim)


glu_backward: Op = kernel(
    "glu_backward(Tensor grad_output, Tensor input, int dim) -> Tensor",
    infer=lambda grad_output, input, dim: Meta(tuple(input.shape), input.dtype, compute=input.dtype),
    impl=_glu_backward_kernel,
    composite=_glu_back,
    namespace="-",
    outside=True,
    doc="The gradient of glu.",
    raises="not of floats",
)


def _glu_jvp(input_t: Any, input: Any, dim: int) -> Any:
    half = input.shape[dim] // 2
    first, second = input.narrow(dim, 0, half), input.narrow(dim, half, half)
    s = sigmoid(second)
    return input_t.narrow(dim, 0, half) * s + input_t.narrow(dim, half, half) * (first * s * (1 - s))


glu: Op = kernel(
    "glu(Tensor input, int dim=-1) -> Tensor",
    infer=_glu_infer,
    impl=_glu_kernel,
    vjp=lambda g, input, dim: glu_backward(g, input, dim),
    jvp=_glu_jvp,
    namespace=F,
    doc="The first half times the sigmoid of the second half, along `dim` (torch.nn.functional.glu).",
    raises=False,
)
