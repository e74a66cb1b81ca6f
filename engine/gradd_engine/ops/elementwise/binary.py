"""Element-wise powers, bounds, extremes, selection and interpolation."""

from __future__ import annotations

import cmath
import math
from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes
from ...declare import attach, composite, elementwise, public
from ...schema import Op
from ...tensor import Tensor
from ..shared import broadcast, conj, fits, operands_fit, pointwise_meta, refuse, stored, zeros_like
from .unary import log, lower_power, recorded

if TYPE_CHECKING:
    from collections.abc import Callable

# -- selection -------------------------------------------------------------------------------------


def _where_infer(condition: Tensor, input: Any, other: Any) -> Meta:
    if condition.dtype is not dtypes.bool_ and condition.dtype is not dtypes.uint8:
        text = "where expected condition to be a boolean tensor, but got a tensor with dtype"
        raise RuntimeError(f"{text} {condition.dtype.title}")
    meta = pointwise_meta([condition, input, other], dtypes.result_type([input, other]), dtypes.float32)
    meta.compute = None
    return meta


def _where_numbers(condition: Tensor, input: Any, other: Any) -> None:
    # With half-precision tensors, numbers are cast unchecked: too large ones become infinite.
    if not any(isinstance(x, Tensor) and x.dtype.is_half for x in (input, other)):
        operands_fit(input, other)


def _where(xp: Any, condition: Any, a: Any, b: Any) -> Any:
    return xp.where(condition if condition.dtype.kind == "b" else condition != 0, a, b)


_where_op: Op = elementwise(
    "where(Tensor condition, Tensor|Number input, Tensor|Number other) -> Tensor",
    infer=_where_infer,
    check_values=_where_numbers,
    impl=_where,
    vjp={
        "input": lambda g, condition: where(condition, g, 0.0),
        "other": lambda g, condition: where(condition, 0.0, g),
    },
    doc="`input` where the condition is true, otherwise `other` (torch.where).",
    raises=False,
)


@public(forms=("(condition, input, other)", "(condition) -> tuple[Tensor, ...]"), out=True)
def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """See torch.where; with only a condition, the indices where it is true."""
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    return _where_op(condition, input, other)


def _method_where(self: Any, condition: Any, other: Any) -> Any:
    return _where_op(condition, self, other)


attach("where", _method_where, "(condition: Tensor, other: Tensor | Number)")

# -- powers ----------------------------------------------------------------------------------------


def _pow_infer(input: Tensor, exponent: Any) -> Meta:
    meta = broadcast(input, exponent)
    if meta.dtype is dtypes.bool_ and type(exponent) is not bool:
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")
    if meta.dtype.category < dtypes.FLOAT and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if meta.dtype is input.dtype and (meta.dtype.is_half or meta.dtype.category < dtypes.FLOAT):
        fits(exponent, meta.dtype)
    return meta


def _complex_power(xp: Any, a: Any, b: Any) -> Any:
    """By the logarithm, as in C++ and so in PyTorch: rounded where products would be exact, and
    nan for 0 ** 0. Scripts divide by 1 + w ** n, where w is a root of unity.
    """
    dtype = xp.result_type(a, b)
    return xp.exp(b * xp.log(a.astype(dtype, copy=False)))


def _pow(xp: Any, a: Any, exponent: Any) -> Any:
    if exponent == 1:
        return a.copy()
    if exponent == 2:
        return a * a
    if exponent == 3:
        return a * a * a
    if a.dtype.kind in "fc":
        if exponent == 0.5:
            return xp.sqrt(a)
        if exponent == -1:
            return a.dtype.type(1) / a
        if exponent == -0.5:
            return a.dtype.type(1) / xp.sqrt(a)
        if exponent == -2:
            return a.dtype.type(1) / (a * a)
        if a.dtype.kind == "c" and exponent != 0:
            return _complex_power(xp, a, a.dtype.type(exponent))
    return xp.power(a, a.dtype.type(exponent)).astype(a.dtype, copy=False)


def _pow_vjp(g: Any, input: Any, exponent: Any) -> Any:
    if exponent == 0:
        return zeros_like(g)
    if exponent == 1 and not recorded(input):
        return g
    return g * conj(exponent * lower_power(input, exponent))


_pow_number: Op = elementwise(
    "pow_number(Tensor input, Number exponent) -> Tensor",
    infer=_pow_infer,
    impl=_pow,
    vjp=_pow_vjp,
    inplace=True,
    node="PowBackward0",
    namespace="-",
    outside=True,
    doc="input ** exponent for a scalar exponent (torch.pow).",
    raises="not of floats",
)


def _pow_tensor_infer(input: Tensor, exponent: Tensor) -> Meta:
    meta = broadcast(input, exponent)
    refuse(meta.dtype, "pow", dtypes.bool_)
    return meta


def _power(xp: Any, a: Any, b: Any) -> Any:
    if "c" in (a.dtype.kind, b.dtype.kind):
        return _complex_power(xp, a, b)
    if b.dtype.kind == "i" and (hasattr(b, "get") or (b < 0).any()):
        # integer results only: 1 and -1 have them, all others are 0 (even 1/0), as in PyTorch
        one = xp.where(b % 2 == 0, 1, a)
        return xp.where(b < 0, xp.where(xp.abs(a) == 1, one, 0), xp.power(a, xp.where(b < 0, 0, b)))
    return xp.power(a, b)


def _pow_input(g: Any, input: Any, exponent: Any) -> Any:
    return where(exponent == 0, 0.0, g * conj(exponent * _pow_tensor(input, exponent - 1)))


def _from_exponent(g: Any, base_is_zero: Any, logarithm: Any, exponent: Any, out: Any) -> Any:
    from .complex import imag_of, real

    positive = (
        (real(exponent) >= 0) & (imag_of(exponent) == 0) if exponent.dtype.is_complex else exponent >= 0
    )
    return g * where(base_is_zero & positive, 0.0, conj(out * logarithm))


def _log(base: Any, out: Any) -> Any:
    """The logarithm of the base, complex if the power is."""
    from ..shape import to_dtype

    return log(to_dtype(base, out.dtype) if out.dtype.is_complex else base)


_pow_tensor: Op = elementwise(
    "pow_tensor(Tensor input, Tensor exponent) -> Tensor",
    infer=_pow_tensor_infer,
    impl=_power,
    vjp=(
        _pow_input,
        lambda g, input, exponent, out: _from_exponent(g, input == 0, _log(input, out), exponent, out),
    ),
    node="PowBackward1",
    inplace=True,
    namespace="-",
    outside=True,
    doc="input ** exponent for a tensor of exponents (torch.pow).",
    raises="not of floats",
)


def log_of(base: Any) -> Any:
    """The logarithm of a Python number, with -inf and nan as a tensor would give."""
    if base == 0:
        return -math.inf
    if isinstance(base, complex):
        return cmath.log(base)
    return math.log(base) if base > 0 else math.nan


def contiguous(meta: Meta) -> Meta:
    """`meta`, laid out row-major."""
    return Meta(meta.shape, meta.dtype, compute=meta.compute)


def _base_vjp(g: Any, input: Any, exponent: Any, out: Any) -> Any:
    if input == 0:
        return _from_exponent(g, exponent == exponent, -math.inf, exponent, out)
    return g * conj(out * log_of(complex(input) if out.dtype.is_complex else input))


def _pow_of_base(xp: Any, b: Any, input: Any) -> Any:
    if input == 1:
        return xp.ones_like(b)
    return _power(xp, xp.full(b.shape, stored(input, b.dtype), b.dtype), b)


_pow_base: Op = elementwise(
    "pow_base(Number input, Tensor exponent) -> Tensor",
    # laid out row-major whatever the exponent's strides, as in PyTorch
    infer=lambda exponent, input: contiguous(_pow_tensor_infer(input, exponent)),
    impl=_pow_of_base,
    vjp=_base_vjp,
    node="PowBackward2",
    namespace="-",
    outside=True,
    doc="A number to the power of a tensor (torch.pow).",
    raises="not of floats",
)


def _pow_of(input: Any, exponent: Any) -> Any:
    if not isinstance(exponent, Tensor):
        return _pow_number(input, exponent)
    return _pow_tensor(input, exponent) if isinstance(input, Tensor) else _pow_base(input, exponent)


def _pow_into(input: Tensor, exponent: Any) -> Any:
    form = _pow_tensor if isinstance(exponent, Tensor) else _pow_number
    assert form.inplace is not None
    return form.inplace(input, exponent)


# Inline, so that the inner op is recorded: a number as exponent is static, as 0, 1 and 2 have their own
# rules.
pow = composite(
    "pow(Tensor|Number input, Tensor|Number exponent) -> Tensor",
    body=_pow_of,
    inline=True,
    out=True,
    method=True,
    doc="input ** exponent, where at least one is a tensor (torch.pow).",
    autocast={"cuda": "float32"},
)
pow_ = composite(
    "pow_(Tensor(a!) input, Tensor|Number exponent) -> Tensor(a!)",
    body=_pow_into,
    inline=True,
    method=True,
    namespace="-",
    doc="The in-place form of `pow`.",
)


def _wide(*operands: Any) -> dtypes.DType:
    both = dtypes.result_type(operands)
    return dtypes.complex128 if both.is_complex else dtypes.float64


def _float_power(input: Any, exponent: Any) -> Any:
    from ..shape import to_dtype

    wide = _wide(input, exponent)
    one, other = (to_dtype(x, wide) if isinstance(x, Tensor) else x for x in (input, exponent))
    return pow(one, other)


float_power: Op = composite(
    "float_power(Tensor|Number input, Tensor|Number exponent) -> Tensor",
    body=_float_power,
    out=True,
    method=True,
    doc="input ** exponent in double precision (torch.float_power).",
)


def _float_power_(self: Tensor, exponent: Any) -> Any:
    """The in-place form of `float_power`; RuntimeError unless the tensor is in double precision."""
    wide = _wide(self, exponent)
    if self.dtype is not wide:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype.title} but the operation's result "
            f"requires dtype {wide.title}"
        )
    return pow_(self, exponent)


attach("float_power_", _float_power_)

# -- bounds ----------------------------------------------------------------------------------------


def _bounded(kernel: str, words: str) -> Callable[..., Meta]:
    def infer(input: Tensor, *bounds: Any, **_: Any) -> Meta:
        given = [b for b in bounds if b is not None]
        if not given:
            raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
        if any(
            x.dtype.is_complex if isinstance(x, Tensor) else isinstance(x, complex) for x in (input, *given)
        ):
            raise NotImplementedError(f"{words} is not supported for complex types")
        meta = broadcast(input, *given)
        if meta.dtype is dtypes.bool_ and (len(given) == 2 or not isinstance(given[0], Tensor)):
            raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")
        return meta

    return infer


def _clamp(xp: Any, a: Any, low: Any, high: Any) -> Any:
    if low is not None:
        a = xp.maximum(a, low)
    return a if high is None else xp.minimum(a, high)


def _inside(g: Any, input: Any, min: Any, max: Any) -> Any:
    if min is None:
        return where(input <= max, g, 0.0)
    if max is None:
        return where(input >= min, g, 0.0)
    return where((input >= min) & (input <= max), g, 0.0)


def _to_min(g: Any, input: Any, min: Any, max: Any) -> Any:
    return where(input < min if max is None else (min < max) & (input < min), g, 0.0)


def _to_max(g: Any, input: Any, min: Any, max: Any) -> Any:
    return where(input > max if min is None else (input > max) | (max < min), g, 0.0)


clamp: Op = elementwise(
    "clamp(Tensor input, Tensor|Number? min=None, Tensor|Number? max=None) -> Tensor",
    infer=_bounded("clamp_scalar_cpu", "clamp"),
    check_values=lambda input, min, max: operands_fit(input, min, max),
    impl=_clamp,
    vjp=(_inside, _to_min, _to_max),
    number_nodes={"min": "ClampBackward1", "max": "ClampBackward1"},
    method=True,
    inplace=True,
    doc="Values clamped to [min, max] (torch.clamp); the gradient at a bound is 1.",
    raises=False,
)

clamp_min: Op = elementwise(
    "clamp_min(Tensor input, Tensor|Number min) -> Tensor",
    infer=_bounded("clamp_min_scalar_cpu", "clamp"),
    check_values=lambda input, min: operands_fit(input, min),
    impl=lambda xp, a, low: xp.maximum(a, low),
    vjp=(
        lambda g, input, min: where(input >= min, g, 0.0),
        lambda g, input, min: where(input < min, g, 0.0),
    ),
    node="ClampMinBackward1",
    number_nodes={"min": "ClampMinBackward0"},
    method=True,
    inplace=True,
    doc="Values clamped from below (torch.clamp_min).",
    raises=False,
)

clamp_max: Op = elementwise(
    "clamp_max(Tensor input, Tensor|Number max) -> Tensor",
    infer=_bounded("clamp_max_scalar_cpu", "clamp"),
    check_values=lambda input, max: operands_fit(input, max),
    impl=lambda xp, a, high: xp.minimum(a, high),
    vjp=(
        lambda g, input, max: where(input <= max, g, 0.0),
        lambda g, input, max: where(input > max, g, 0.0),
    ),
    node="ClampMaxBackward1",
    number_nodes={"max": "ClampMaxBackward0"},
    method=True,
    inplace=True,
    doc="Values clamped from above (torch.clamp_max).",
    raises=False,
)

# -- extremes --------------------------------------------------------------------------------------


def _extreme(name: str) -> Callable[..., Meta]:
    def infer(input: Tensor, other: Tensor) -> Meta:
        if input.dtype.is_complex or other.dtype.is_complex:
            raise RuntimeError(f"{name} not implemented for complex tensors.")
        return broadcast(input, other)

    return infer


def _halved(g: Any, input: Any, other: Any, loses: Any) -> Any:
    return where(loses, 0.0, where(input == other, g / 2, g))


maximum: Op = elementwise(
    "maximum(Tensor input, Tensor other) -> Tensor",
    infer=_extreme("maximum"),
    impl=lambda xp, a, b: xp.maximum(a, b),
    vjp=(
        lambda g, input, other: _halved(g, input, other, input < other),
        lambda g, input, other: _halved(g, input, other, input > other),
    ),
    method=True,
    doc="The larger of two, nan if either is nan (torch.maximum); a tie halves the gradient.",
    raises=False,
)
minimum: Op = elementwise(
    "minimum(Tensor input, Tensor other) -> Tensor",
    infer=_extreme("minimum"),
    impl=lambda xp, a, b: xp.minimum(a, b),
    vjp=(
        lambda g, input, other: _halved(g, input, other, input > other),
        lambda g, input, other: _halved(g, input, other, input < other),
    ),
    method=True,
    doc="The smaller of two, nan if either is nan (torch.minimum); a tie halves the gradient.",
    raises=False,
)
fmax: Op = elementwise(
    "fmax(Tensor input, Tensor other) -> Tensor",
    infer=_extreme("fmax"),
    impl=lambda xp, a, b: xp.fmax(a, b),
    vjp=(
        lambda g, input, other: where((input >= other) | (other != other), g, 0.0),
        lambda g, input, other: where((input >= other) | (other != other), 0.0, g),
    ),
    method=True,
    doc="The larger of two, or the other one if one is nan (torch.fmax); a tie goes to the first.",
    raises=False,
)
fmin: Op = elementwise(
    "fmin(Tensor input, Tensor other) -> Tensor",
    infer=_extreme("fmin"),
    impl=lambda xp, a, b: xp.fmin(a, b),
    vjp=(
        lambda g, input, other: where((input <= other) | (other != other), g, 0.0),
        lambda g, input, other: where((input <= other) | (other != other), 0.0, g),
    ),
    method=True,
    doc="The smaller of two, or the other one if one is nan (torch.fmin); a tie goes to the first.",
    raises=False,
)
