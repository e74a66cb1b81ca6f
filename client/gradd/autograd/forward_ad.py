"""Forward-mode automatic differentiation, as torch.autograd.forward_ad.

import gradd as torch
from gradd.autograd import forward_ad

with forward_ad.dual_level():
    dual = forward_ad.make_dual(x, direction)
    value, derivative = forward_ad.unpack_dual(f(dual))
"""

from gradd_engine.transforms import (
    UnpackedDualTensor,
    dual_level,
    enter_dual_level,
    exit_dual_level,
    make_dual,
    unpack_dual,
)

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]
