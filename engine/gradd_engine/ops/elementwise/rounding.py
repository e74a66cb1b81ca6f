"""Rounding to integers, floor division and remainders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes
from ...declare import elementwise
from ...schema import Op
from ...tensor import Tensor
from ..shared import broadcast, nonzero_divisor, refuse, same, zeros_like
from .arithmetic import div, quotient

if TYPE_CHECKING:
    from collections.abc import Callable


def _real(kernel: str, *refused: dtypes.DType, integer: bool = False) -> Callable[..., Meta]:
    def infer(input: Tensor, *_: Any, **__: Any) -> Meta:
        refuse(input.dtype, kernel, *refused, complex=True, integer=integer)
        return same(input)

    return infer


def _whole(name: str, kernel: Callable[[Any, Any], Any]) -> Op:
    def infer(input: Tensor) -> Meta:
        if input.dtype.is_complex:
            raise NotImplementedError(f"{name} is not supported for complex inputs")
        refuse(input.dtype, f"{name}_vml_cpu", dtypes.bool_)
        return same(input)

    return elementwise(
        f"{name}(Tensor input) -> Tensor",
        infer=infer,
        impl=lambda xp, a: a.copy() if a.dtype.kind in "iu" else kernel(xp, a),
        vjp=lambda g: zeros_like(g),
        method=True,
        inplace=True,
        doc=f"Element-wise {name} (torch.{name}); the gradient is 0.",
        raises=False,
    )


floor = _whole("floor", lambda xp, a: xp.floor(a))
ceil = _whole("ceil", lambda xp, a: xp.ceil(a))
trunc = _whole("trunc", lambda xp, a: xp.trunc(a))


def _round(xp: Any, a: Any, decimals: int) -> Any:
    if a.dtype.kind in "iu":
        return a.copy()
    if decimals == 0:
        return xp.rint(a)
    scale = a.dtype.type(10.0 ** (decimals if decimals > 0 else -decimals))
    return xp.rint(a * scale) / scale if decimals > 0 else xp.rint(a / scale) * scale


round: Op = elementwise(
    "round(Tensor input, *, int decimals=0) -> Tensor",
    infer=_real("round_vml_cpu", dtypes.bool_),
    impl=_round,
    vjp=lambda g: zeros_like(g),
    node=lambda attrs: "RoundBackward1" if attrs["decimals"] else "RoundBackward0",
    method=True,
    inplace=True,
    doc="Round to the nearest integer, halves to even, or to `decimals` places (torch.round).",
)

frac: Op = elementwise(
    "frac(Tensor input) -> Tensor",
    infer=_real("frac_cpu", integer=True),
    impl=lambda xp, a: a - xp.trunc(a),
    vjp=lambda g: g,
    method=True,
    inplace=True,
    doc="The fractional part, with the sign of the input (torch.frac).",
    raises=False,
)

#: PyTorch's name for the node of an op without a derivative
NO_DERIVATIVE = "torch::autograd::NotImplemented"


def no_derivative(name: str) -> Callable[[dict[str, Any]], Exception]:
    """PyTorch's error for an op without a derivative."""
    return lambda attrs: RuntimeError(f"derivative for aten::{name} is not implemented")


def _division(kernel: str) -> Callable[..., Meta]:
    def infer(input: Any, other: Any) -> Meta:
        meta = broadcast(input, other)
        refuse(meta.dtype, kernel, dtypes.bool_, complex=True)
        return meta

    return infer


floor_divide: Op = elementwise(
    "floor_divide(Tensor|Number input, Tensor|Number other) -> Tensor",
    infer=_division("div_floor_cpu"),
    impl=lambda xp, a, b: quotient(xp, a, b, "floor"),
    refuses=no_derivative("floor_divide"),
    node=NO_DERIVATIVE,
    number_nodes={"input": NO_DERIVATIVE, "other": NO_DERIVATIVE},
    method=True,
    inplace=True,
    doc="The quotient rounded down (torch.floor_divide); it has no derivative.",
    raises="not of floats",
    of_numbers=True,
)


def _modulo(name: str, kernel: Callable[[Any, Any, Any], Any], rounding: str) -> Op:
    def impl(xp: Any, a: Any, b: Any) -> Any:
        nonzero_divisor(xp, b)
        return kernel(xp, a, b)

    def other(g: Any, input: Any, other: Any) -> Any:
        return -g * div(input, other, rounding_mode=rounding)

    node = "".join(w.capitalize() for w in name.split("_"))
    return elementwise(
        f"{name}({'Tensor' if name == 'fmod' else 'Tensor|Number'} input, Tensor|Number other) -> Tensor",
        infer=_division(f"{name}_cpu"),
        impl=impl,
        vjp=(lambda g: g, other),
        node=f"{node}Backward1",
        number_nodes={"other": f"{node}Backward0"},
        method=True,
        inplace=True,
        doc=f"The remainder of {rounding} division (torch.{name}).",
        raises="not of floats",
    )


def _remainder(xp: Any, a: Any, b: Any) -> Any:
    found = xp.remainder(a, b)
    # A zero remainder has the dividend's sign.
    return xp.where(found == 0, xp.copysign(found, a), found) if found.dtype.kind == "f" else found


remainder = _modulo("remainder", _remainder, "floor")
fmod = _modulo("fmod", lambda xp, a, b: xp.fmod(a, b), "trunc")
