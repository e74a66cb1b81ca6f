"""Element-wise functions of one tensor; complex gradients follow PyTorch's conjugate convention."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import ml_dtypes

from ...data import Meta, dtypes, preserved_strides, state
from ...declare import LINEAR, InPlace, elementwise
from ...schema import Op, named
from ..shared import broadcast, broadcast_float, conj, refuse, same, zeros_like
from .arithmetic import mul

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...tensor import Tensor

LN2, LN10 = math.log(2.0), math.log(10.0)


#: functions that NumPy has under the same name
_UFUNCS = frozenset(
    {"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tan", "tanh"}
)
#: functions of a wide range, which autocast computes in float32 on a GPU
_IN_FLOAT32 = frozenset(
    {
        "acos", "asin", "cosh", "exp", "expm1", "log", "log10", "log1p", "log2", "reciprocal", "rsqrt",
        "sinh", "tan",
    }
)  # fmt: skip


def _unary(name: str, impl: Callable[..., Any], vjp: Callable[..., Any], node: str = "") -> Op:
    return elementwise(
        f"{name}(Tensor input) -> Tensor",
        infer=broadcast_float,
        impl=impl,
        vjp=vjp,
        node=node,
        ufunc=name if name in _UFUNCS else "",
        autocast={"cuda": "float32"} if name in _IN_FLOAT32 else {},
        method=True,
        inplace=True,
        doc=f"Element-wise {name} (torch.{name}); integers give the default float type.",
        raises=False,
    )


def _abs_infer(input: Tensor) -> Meta:
    refuse(input.dtype, "abs_cpu", dtypes.bool_)
    return Meta(tuple(input.shape), dtypes.to_real(input.dtype), same(input).strides)


def _abs_in_place(input: Tensor) -> None:
    if input.dtype.is_complex:
        raise RuntimeError("In-place abs is not supported for complex tensors.")


abs: Op = elementwise(
    "abs(Tensor input) -> Tensor",
    infer=_abs_infer,
    impl=lambda xp, a: xp.abs(a),
    vjp=lambda g, input: g * sgn(input),
    method=True,
    inplace=InPlace(check_values=_abs_in_place),
    doc="Absolute value (torch.abs); the gradient at 0 is 0.",
    raises=False,
)


def _sgn_vjp(g: Any, input: Any, out: Any) -> Any:
    """Zero for real numbers; for complex z, the part of g perpendicular to z, over |z| (0 at 0)."""
    if not input.dtype.is_complex:
        return zeros_like(g)
    from .complex import real

    size = abs(input)
    across = (g - out * real(g * conj(out))) / size
    return named.where(size == 0, 0.0, across)


def _sgn(xp: Any, a: Any) -> Any:
    if a.dtype.kind != "c":
        return a.copy() if a.dtype.kind == "b" else xp.nan_to_num(xp.sign(a), nan=0.0)
    size = xp.abs(a)
    return xp.where(size == 0, 0, a / xp.where(size == 0, 1, size))


sgn: Op = elementwise(
    "sgn(Tensor input) -> Tensor",
    infer=same,
    impl=_sgn,
    vjp=_sgn_vjp,
    # as a real map the Jacobian is symmetric
    jvp=lambda input_t, input, out: _sgn_vjp(input_t, input, out),
    method=True,
    inplace=True,
    doc="z / |z|, 0 at 0 (torch.sgn).",
    raises=False,
)


def _sign_infer(input: Tensor) -> Meta:
    if input.dtype.is_complex:
        raise NotImplementedError(
            "Unlike NumPy, torch.sign is not intended to support complex numbers. "
            "Please use torch.sgn instead."
        )
    return same(input)


sign: Op = elementwise(
    "sign(Tensor input) -> Tensor",
    infer=_sign_infer,
    impl=lambda xp, a: a.copy() if a.dtype.kind == "b" else xp.nan_to_num(xp.sign(a), nan=0.0),
    vjp=lambda g: zeros_like(g),
    method=True,
    inplace=True,
    doc="-1, 0 or 1, and 0 for nan (torch.sign).",
    raises=False,
)


def _square_infer(input: Tensor) -> Meta:
    dtype = dtypes.int64 if input.dtype is dtypes.bool_ else input.dtype
    return Meta(tuple(input.shape), dtype, preserved_strides(input), compute=dtype)


def recorded(input: Any) -> bool:
    """Whether ops on `input` are recorded now."""
    return state.grad and bool(input.requires_grad)


def lower_power(input: Any, exponent: Any) -> Any:
    """``input ** (exponent - 1)``, a factor of a power's derivative.

    The first power is the input itself, without an op, unless recorded: then each order has its node as in
    PyTorch, so that a polynomial's last derivative is a zero that can be requested.
    """
    return input if exponent == 2 and not recorded(input) else named.pow_number(input, exponent - 1)


def _square_vjp(g: Any, input: Any) -> Any:
    return g * conj(lower_power(input, 2) * 2)


square: Op = elementwise(
    "square(Tensor input) -> Tensor",
    infer=_square_infer,
    impl=lambda xp, a: a * a,
    vjp=_square_vjp,
    node="PowBackward0",
    method=True,
    inplace=True,
    doc="input * input (torch.square).",
    raises=False,
)


def _from_output(name: str, slope: Callable[..., Any]) -> Op:
    """The gradient as one op of the result; ``slope(1, result)`` is its factor, on arrays and in recorded
    ops.
    """

    def impl(xp: Any, g: Any, out: Any) -> Any:
        factor = slope(_one(xp, out.dtype), out)
        return xp.multiply(g, xp.conjugate(factor) if out.dtype.kind == "c" else factor)

    return elementwise(
        f"{name}_backward(Tensor grad_output, Tensor output) -> Tensor",
        infer=lambda grad_output, output: broadcast(grad_output, output),
        impl=impl,
        composite=lambda grad_output, output: grad_output * conj(slope(1, output)),
        namespace="-",
        outside=True,
        doc=f"The gradient of {name} from its result.",
        raises="not of floats",
    )


@functools.cache
def _one(xp: Any, dtype: Any) -> Any:
    """1 as an array, which NumPy handles faster than a number."""
    return xp.ones((), dtype)


tanh_backward = _from_output("tanh", lambda one, out: one - out * out)
sigmoid_backward = _from_output("sigmoid", lambda one, out: (one - out) * out)


def _sigmoid(xp: Any, a: Any) -> Any:
    one = a.dtype.type(1)
    return one / (one + xp.exp(-a))


exp: Op = _unary("exp", lambda xp, a: xp.exp(a), lambda g, out: mul(g, conj(out)))
exp2: Op = _unary("exp2", lambda xp, a: xp.exp2(a), lambda g, out: g * conj(out) * LN2)
expm1: Op = _unary("expm1", lambda xp, a: xp.expm1(a), lambda g, out: g * (conj(out) + 1))
log: Op = _unary("log", lambda xp, a: xp.log(a), lambda g, input: g / conj(input))
log2: Op = _unary("log2", lambda xp, a: xp.log2(a), lambda g, input: g / (conj(input) * LN2))
log10: Op = _unary("log10", lambda xp, a: xp.log10(a), lambda g, input: g / (conj(input) * LN10))
log1p: Op = _unary("log1p", lambda xp, a: xp.log1p(a), lambda g, input: g / conj(input + 1), "Log1PBackward0")
sqrt: Op = _unary("sqrt", lambda xp, a: xp.sqrt(a), lambda g, out: g / (2 * conj(out)))
rsqrt: Op = _unary(
    "rsqrt", lambda xp, a: a.dtype.type(1) / xp.sqrt(a), lambda g, out: -0.5 * g * conj(out * out * out)
)
reciprocal: Op = _unary("reciprocal", lambda xp, a: a.dtype.type(1) / a, lambda g, out: -g * conj(out * out))
sin: Op = _unary("sin", lambda xp, a: xp.sin(a), lambda g, input: mul(g, conj(cos(input))))
cos: Op = _unary("cos", lambda xp, a: xp.cos(a), lambda g, input: mul(g, conj(-sin(input))))
tan: Op = _unary("tan", lambda xp, a: xp.tan(a), lambda g, out: mul(g, conj(out * out + 1)))
sinh: Op = _unary("sinh", lambda xp, a: xp.sinh(a), lambda g, input: mul(g, conj(cosh(input))))
cosh: Op = _unary("cosh", lambda xp, a: xp.cosh(a), lambda g, input: mul(g, conj(sinh(input))))
tanh: Op = _unary("tanh", lambda xp, a: xp.tanh(a), lambda g, out: tanh_backward(g, out))
asin: Op = _unary("asin", lambda xp, a: xp.arcsin(a), lambda g, input: g * conj(rsqrt(1 - input * input)))
acos: Op = _unary("acos", lambda xp, a: xp.arccos(a), lambda g, input: g * conj(-rsqrt(1 - input * input)))
atan: Op = _unary("atan", lambda xp, a: xp.arctan(a), lambda g, input: g / conj(input * input + 1))
asinh: Op = _unary("asinh", lambda xp, a: xp.arcsinh(a), lambda g, input: g * conj(rsqrt(input * input + 1)))
acosh: Op = _unary(
    "acosh", lambda xp, a: xp.arccosh(a), lambda g, input: g * conj(rsqrt(input - 1) * rsqrt(input + 1))
)
atanh: Op = _unary("atanh", lambda xp, a: xp.arctanh(a), lambda g, input: g / conj(1 - input * input))
sigmoid: Op = _unary("sigmoid", _sigmoid, lambda g, out: sigmoid_backward(g, out))


def _real_float(kernel: str) -> Callable[..., Meta]:
    def infer(input: Tensor, **_: Any) -> Meta:
        refuse(input.dtype, kernel, complex=True)
        return broadcast_float(input)

    return infer


def _angles(name: str) -> Callable[..., Meta]:
    def infer(input: Tensor) -> Meta:
        if input.dtype.is_complex:
            raise RuntimeError(f"{name} is not supported for complex tensors.")
        return broadcast_float(input)

    return infer


deg2rad: Op = elementwise(
    "deg2rad(Tensor input) -> Tensor",
    infer=_angles("deg2rad"),
    impl=lambda xp, a: a * a.dtype.type(math.pi / 180.0),
    vjp=lambda g: g * (math.pi / 180.0),
    jvp=LINEAR,
    node="Deg2RadBackward0",
    method=True,
    inplace=True,
    doc="Degrees to radians (torch.deg2rad).",
    raises=False,
)
rad2deg: Op = elementwise(
    "rad2deg(Tensor input) -> Tensor",
    infer=_angles("rad2deg"),
    impl=lambda xp, a: a * a.dtype.type(180.0 / math.pi),
    vjp=lambda g: g * (180.0 / math.pi),
    jvp=LINEAR,
    node="Rad2DegBackward0",
    method=True,
    inplace=True,
    doc="Radians to degrees (torch.rad2deg).",
    raises=False,
)


#: NumPy's finfo does not know bfloat16
_finfo: Any = ml_dtypes.finfo


def _nan_to_num(xp: Any, a: Any, nan: Any, posinf: Any, neginf: Any, meta: Meta) -> Any:
    if a.dtype.kind not in "fc":
        return a.copy()
    bound = float(_finfo(dtypes.to_real(meta.dtype).np).max)
    high = bound if posinf is None else posinf
    return xp.nan_to_num(a, nan=nan or 0.0, posinf=high, neginf=-bound if neginf is None else neginf)


def _nan_to_num_vjp(g: Any, input: Any) -> Any:
    from .comparison import isfinite

    return named.where(isfinite(input), g, 0.0)


nan_to_num: Op = elementwise(
    "nan_to_num(Tensor input, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
    infer=same,
    impl=_nan_to_num,
    vjp=_nan_to_num_vjp,
    method=True,
    inplace=True,
    doc="nan and infinities replaced, by default with 0 and the dtype's limits (torch.nan_to_num).",
    raises=False,
)


def _logit(xp: Any, a: Any, eps: float | None) -> Any:
    if eps is not None:
        a = xp.clip(a, a.dtype.type(eps), a.dtype.type(1.0 - eps))
    return xp.log(a / (a.dtype.type(1) - a))


def _logit_vjp(g: Any, input: Any, eps: float | None) -> Any:
    low = 0.0 if eps is None else eps
    inside = (input >= low) & (input <= 1.0 - low)
    return named.where(inside, g / (input * (1.0 - input)), math.nan if eps is None else 0.0)


logit: Op = elementwise(
    "logit(Tensor input, float? eps=None) -> Tensor",
    infer=_real_float("logit_cpu"),
    impl=_logit,
    vjp=_logit_vjp,
    method=True,
    inplace=True,
    namespace="|special",
    doc="log(x / (1 - x)), with x clamped to [eps, 1 - eps] (torch.logit).",
    raises=False,
)


def _angle_infer(input: Tensor) -> Meta:
    meta = broadcast_float(input)
    meta.dtype, meta.compute = dtypes.to_real(meta.dtype), meta.dtype
    return meta


def _angle_vjp(g: Any, input: Any) -> Any:
    if not input.dtype.is_complex:
        return zeros_like(g)
    from .complex import from_real

    turned = from_real(g) * (sgn(input) * 1j / abs(input))
    return named.where(input == 0, 0.0, turned)


def _angle(xp: Any, a: Any) -> Any:
    found = xp.angle(a)
    return found if a.dtype.kind == "c" else xp.where(xp.isnan(a), a, found)


angle: Op = elementwise(
    "angle(Tensor input) -> Tensor",
    infer=_angle_infer,
    impl=_angle,
    vjp=_angle_vjp,
    method=True,
    doc="The angle in the complex plane; 0 or pi for real numbers (torch.angle).",
    raises=False,
)


def _sinc(xp: Any, a: Any) -> Any:
    x = a * a.dtype.type(math.pi)
    return xp.where(x == 0, a.dtype.type(1), xp.sin(x) / xp.where(x == 0, a.dtype.type(1), x))


def _sinc_vjp(g: Any, input: Any) -> Any:
    x = input * math.pi
    slope = (x * cos(x) - sin(x)) / (x * input)
    return g * conj(named.where(input == 0, 0.0, slope))


sinc: Op = elementwise(
    "sinc(Tensor input) -> Tensor",
    infer=broadcast_float,
    impl=_sinc,
    vjp=_sinc_vjp,
    method=True,
    inplace=True,
    namespace="|special",
    doc="sin(pi x) / (pi x), 1 at 0 (torch.sinc).",
    raises=False,
)
