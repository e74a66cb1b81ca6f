"""Arithmetic with numbers as PyTorch's composites record it: other overloads, hence other node names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...declare import elementwise
from ..shared import broadcast, broadcast_float, conj
from .arithmetic import div, mul

if TYPE_CHECKING:
    from ...schema import Op

add_scalar: Op = elementwise(
    "add_scalar(Tensor input, Tensor|Number other) -> Tensor",
    infer=broadcast,
    impl=lambda xp, a, b: xp.add(a, b),
    vjp={"input": lambda g: g},
    node="AddBackward1",
    namespace="-",
    outside=True,
    doc="input + a number.",
    raises=False,
)

mul_scalar: Op = elementwise(
    "mul_scalar(Tensor input, Tensor|Number other) -> Tensor",
    infer=broadcast,
    impl=lambda xp, a, b: xp.multiply(a, b),
    vjp={"input": lambda g, other: mul(g, conj(other))},
    node="MulBackward1",
    namespace="-",
    outside=True,
    doc="input * a number.",
    raises=False,
)

div_scalar: Op = elementwise(
    "div_scalar(Tensor input, Tensor|Number other) -> Tensor",
    infer=broadcast_float,
    impl=lambda xp, a, b: xp.true_divide(a, b),
    vjp={"input": lambda g, other: div(g, conj(other))},
    node="DivBackward1",
    namespace="-",
    outside=True,
    doc="input / a number.",
    raises=False,
)
