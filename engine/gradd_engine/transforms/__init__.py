"""Function transforms: `torch.func`, `torch.autograd.functional` and forward mode."""

from . import forward_ad
from .captured import made_here
from .forward_ad import (
    UnpackedDualTensor,
    dual_level,
    enter_dual_level,
    exit_dual_level,
    hold_tangent,
    make_dual,
    tangent_of_dual,
    unpack_dual,
)
from .functional import hvp, jacobian, vhp
from .grad import grad_and_value, linearize
from .jac import jacfwd, jacrev

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "forward_ad",
    "grad_and_value",
    "hold_tangent",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "linearize",
    "made_here",
    "make_dual",
    "tangent_of_dual",
    "unpack_dual",
    "vhp",
]
