"""The error function and its complement."""

from __future__ import annotations

import math

from ...data import Meta
from ...declare import elementwise
from ...kernels import gauss, tiled
from ...schema import Op
from ...tensor import Tensor
from ..shared import broadcast_float, refuse
from .unary import exp


def _infer(input: Tensor) -> Meta:
    refuse(input.dtype, "erf", complex=True)
    return broadcast_float(input)


_SLOPE = 2.0 / math.sqrt(math.pi)

erf: Op = elementwise(
    "erf(Tensor input) -> Tensor",
    infer=_infer,
    impl=lambda xp, a: tiled(xp, gauss.erf, a),
    vjp=lambda g, input: g * (_SLOPE * exp(-(input * input))),
    method=True,
    inplace=True,
    namespace="|special",
    doc="The error function (torch.erf).",
    raises=False,
)
erfc: Op = elementwise(
    "erfc(Tensor input) -> Tensor",
    infer=_infer,
    impl=lambda xp, a: tiled(xp, gauss.erfc, a),
    vjp=lambda g, input: g * (-_SLOPE * exp(-(input * input))),
    method=True,
    inplace=True,
    namespace="|special",
    doc="1 - erf(input) (torch.erfc).",
    raises=False,
)
