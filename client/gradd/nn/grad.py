"""Gradients of convolutions by themselves (torch.nn.grad), for backward passes written by hand.

Source: https://github.com/pytorch/pytorch/blob/main/torch/nn/grad.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradd_engine.graph import enable_grad, is_grad_enabled

from .._surface import namespace
from .._tensor import Tensor
from ..autograd import grad

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]

_OPS = namespace("nn.functional")


def _gradient(size: Sequence[int], grad_output: Tensor, convolved: Callable[[Tensor], Tensor]) -> Tensor:
    """The gradient of a tensor of this size, which `convolved` takes: its values do not matter, since a
    convolution is linear.
    """
    differentiable = is_grad_enabled()
    with enable_grad():
        place = grad_output.new_zeros(tuple(size)).requires_grad_()
        (found,) = grad(convolved(place), place, grad_output, create_graph=differentiable)
    return found


def _input(name: str) -> Callable[..., Tensor]:
    """The function for the gradient of an input."""

    def of_input(
        input_size: Sequence[int],
        weight: Tensor,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        def convolved(x: Tensor) -> Any:
            return _OPS[name](x, weight, None, stride, padding, dilation, groups)

        return _gradient(input_size, grad_output, convolved)

    of_input.__name__ = of_input.__qualname__ = f"{name}_input"
    of_input.__doc__ = f"The gradient of {name}'s input, of shape `input_size`."
    return of_input


def _weight(name: str) -> Callable[..., Tensor]:
    """The function for the gradient of a weight."""

    def of_weight(
        input: Tensor,
        weight_size: Sequence[int],
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        def convolved(weight: Tensor) -> Any:
            return _OPS[name](input, weight, None, stride, padding, dilation, groups)

        return _gradient(weight_size, grad_output, convolved)

    of_weight.__name__ = of_weight.__qualname__ = f"{name}_weight"
    of_weight.__doc__ = f"The gradient of {name}'s weight, of shape `weight_size`."
    return of_weight


conv1d_input, conv1d_weight = _input("conv1d"), _weight("conv1d")
conv2d_input, conv2d_weight = _input("conv2d"), _weight("conv2d")
conv3d_input, conv3d_weight = _input("conv3d"), _weight("conv3d")
