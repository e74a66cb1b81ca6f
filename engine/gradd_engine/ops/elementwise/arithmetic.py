"""Addition, subtraction, multiplication, division and negation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import dtypes
from ...declare import LINEAR, elementwise
from ...schema import Op
from ...tensor import Tensor
from ..shared import broadcast, broadcast_float, conj, fits, nonzero_divisor, refuse, same, stored, zeros_like

if TYPE_CHECKING:
    from ...data import Meta


def _scaled(g: Any, alpha: Any) -> Any:
    return g if alpha == 1 and not isinstance(alpha, bool) else mul(g, conj(alpha))


def _add_infer(input: Any, other: Any, alpha: Any) -> Meta:
    meta = broadcast(input, other)
    _check_alpha(meta, alpha)
    return meta


def _sub_infer(input: Any, other: Any, alpha: Any) -> Meta:
    truths = [
        x.dtype is dtypes.bool_ if isinstance(x, Tensor) else isinstance(x, bool) for x in (input, other)
    ]
    if any(truths):
        both = all(truths)
        raise RuntimeError(
            f"Subtraction, the `-` operator, with {'two bool tensors' if both else 'a bool tensor'} "
            f"is not supported. "
            + (
                "Use the `^` or `logical_xor()` operator instead."
                if both
                else "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
            )
        )
    meta = broadcast(input, other)
    _check_alpha(meta, alpha)
    return meta


def _check_alpha(meta: Meta, alpha: Any) -> None:
    if isinstance(alpha, bool) and meta.dtype is not dtypes.bool_:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, (float, complex)) and meta.dtype.category < dtypes.FLOAT:
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, complex) and not meta.dtype.is_complex:
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    fits(alpha, meta.dtype)


def _times(xp: Any, b: Any, alpha: Any) -> Any:
    return b if isinstance(alpha, (bool, int)) and alpha == 1 else b * stored(alpha, b.dtype)


add: Op = elementwise(
    "add(Tensor|Number input, Tensor|Number other, *, value Number alpha=1) -> Tensor",
    infer=_add_infer,
    impl=lambda xp, a, b, alpha: xp.add(a, _times(xp, b, alpha)),
    vjp=(lambda g: g, lambda g, alpha: _scaled(g, alpha)),
    ufunc="add",
    numbers_first="alpha",
    method=True,
    inplace=True,
    doc="input + alpha * other (torch.add).",
    raises=False,
    shared_write="",
    of_numbers=True,
)

sub: Op = elementwise(
    "sub(Tensor|Number input, Tensor|Number other, *, value Number alpha=1) -> Tensor",
    infer=_sub_infer,
    impl=lambda xp, a, b, alpha: xp.subtract(a, _times(xp, b, alpha)),
    vjp=(lambda g: g, lambda g, alpha: neg(_scaled(g, alpha))),
    ufunc="subtract",
    numbers_first="alpha",
    method=True,
    inplace=True,
    doc="input - alpha * other (torch.sub).",
    raises=False,
    shared_write="",
    of_numbers=True,
)

rsub: Op = elementwise(
    "rsub(Tensor input, Tensor|Number other, *, value Number alpha=1) -> Tensor",
    infer=_sub_infer,
    impl=lambda xp, a, b, alpha: xp.subtract(b, _times(xp, a, alpha)),
    vjp=(lambda g, alpha: neg(_scaled(g, alpha)), lambda g: g),
    number_nodes={"other": "RsubBackward1"},
    method=True,
    doc="other - alpha * input (torch.rsub).",
    raises=False,
)

mul: Op = elementwise(
    "mul(Tensor|Number input, Tensor|Number other) -> Tensor",
    infer=broadcast,
    impl=lambda xp, a, b: xp.multiply(a, b),
    vjp=(lambda g, other: mul(g, conj(other)), lambda g, input: mul(g, conj(input))),
    ufunc="multiply",
    method=True,
    inplace=True,
    doc="Element-wise product (torch.mul).",
    raises=False,
    of_numbers=True,
)


def _div_infer(input: Any, other: Any, rounding_mode: str | None) -> Meta:
    if rounding_mode is None:
        return broadcast_float(input, other)
    if rounding_mode not in ("trunc", "floor"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    meta = broadcast(input, other)
    refuse(meta.dtype, f"div_{rounding_mode}_cpu", dtypes.bool_, complex=True)
    return meta


def quotient(xp: Any, a: Any, b: Any, rounding_mode: str | None) -> Any:
    """a / b, rounded as requested; PyTorch's RuntimeError if an integer is divided by zero."""
    if rounding_mode is None:
        return xp.true_divide(a, b)
    nonzero_divisor(xp, b)
    if rounding_mode == "floor":
        return xp.floor_divide(a, b)
    if b.dtype.kind == "f":
        return xp.trunc(xp.true_divide(a, b))
    whole = xp.floor_divide(a, b)
    return whole + ((whole < 0) & (whole * b != a)).astype(whole.dtype)


div: Op = elementwise(
    "div(Tensor|Number input, Tensor|Number other, *, str? rounding_mode=None) -> Tensor",
    infer=_div_infer,
    impl=quotient,
    vjp=(
        lambda g, other, rounding_mode: zeros_like(g) if rounding_mode else div(g, conj(other)),
        lambda g, input, other, rounding_mode: (
            zeros_like(g) if rounding_mode else mul(neg(g), conj(div(div(input, other), other)))
        ),
    ),
    node=lambda attrs: "DivBackward2" if attrs["rounding_mode"] else "DivBackward0",
    method=True,
    inplace=True,
    doc="Division (torch.div); without `rounding_mode` integers give the default float type.",
    raises="not of floats",
    of_numbers=True,
)


def _neg_infer(input: Tensor) -> Meta:
    if input.dtype is dtypes.bool_:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a "
            "mask, use the `~` or `logical_not()` operator instead."
        )
    return same(input)


neg: Op = elementwise(
    "neg(Tensor input) -> Tensor",
    infer=_neg_infer,
    impl=lambda xp, a: xp.negative(a),
    vjp=lambda g: neg(g),
    ufunc="negative",
    jvp=LINEAR,
    method=True,
    inplace=True,
    doc="Element-wise negation (torch.neg).",
    raises=False,
)

add_ = add.inplace
