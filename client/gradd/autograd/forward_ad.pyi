"""Forward mode (torch.autograd.forward_ad), typed.

Written by `make face` from the declarations of ops.
"""

from typing import NamedTuple

from gradd_engine.transforms.forward_ad import dual_level as dual_level

from gradd._tensor.tensor import Tensor

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]

class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` returns; ``tangent`` is None where the tensor has none."""

    primal: Tensor
    tangent: Tensor | None

def enter_dual_level() -> int:
    """Enter a level, in which dual tensors can be made; returns its number.

    RuntimeError when there is one: they do not nest. See
    https://pytorch.org/docs/stable/generated/torch.autograd.forward_ad.enter_dual_level.html.
    """

def exit_dual_level(*, level: int | None = None) -> None:
    """Leave the level: its tangents are gone. RuntimeError where there is none, or another one."""

def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of `tensor` that has `tangent`, a tensor of its shape; both floating point or complex.

    RuntimeError and ValueError as PyTorch has them, AttributeError for what is no tensor. See
    https://pytorch.org/docs/stable/generated/torch.autograd.forward_ad.make_dual.html.
    """

def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The primal and the tangent of `tensor`; the tangent is None where it has none, or no level is entered.

    See https://pytorch.org/docs/stable/generated/torch.autograd.forward_ad.unpack_dual.html.
    """
