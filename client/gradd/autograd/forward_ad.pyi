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
    """The result of `unpack_dual`; ``tangent`` is None if the tensor has none."""

    primal: Tensor
    tangent: Tensor | None

def enter_dual_level() -> int:
    """Enter a level in which dual tensors can be made, and return its number.

    RuntimeError if one is already entered: they do not nest. See
    https://pytorch.org/docs/stable/generated/torch.autograd.forward_ad.enter_dual_level.html.
    """

def exit_dual_level(*, level: int | None = None) -> None:
    """Exit the level and drop its tangents. RuntimeError unless `level` is the current one."""

def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of `tensor` with `tangent`, a tensor of the same shape; both floating-point or complex.

    RuntimeError and ValueError as in PyTorch, AttributeError for non-tensors. See
    https://pytorch.org/docs/stable/generated/torch.autograd.forward_ad.make_dual.html.
    """

def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The primal and tangent of `tensor`; the tangent is None if it has none or no level is entered.

    See https://pytorch.org/docs/stable/generated/torch.autograd.forward_ad.unpack_dual.html.
    """
