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


def _input(name: str, size: Sequence[int], weight: Tensor, grad_output: Tensor, options: Any) -> Tensor:
    return _gradient(size, grad_output, lambda x: _OPS[name](x, weight, None, *options))


def _weight(name: str, input: Tensor, size: Sequence[int], grad_output: Tensor, options: Any) -> Tensor:
    return _gradient(size, grad_output, lambda w: _OPS[name](input, w, None, *options))


def conv1d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv1d's input, of shape `input_size`."""
    return _input("conv1d", input_size, weight, grad_output, (stride, padding, dilation, groups))


def conv1d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv1d's weight, of shape `weight_size`."""
    return _weight("conv1d", input, weight_size, grad_output, (stride, padding, dilation, groups))


def conv2d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv2d's input, of shape `input_size`."""
    return _input("conv2d", input_size, weight, grad_output, (stride, padding, dilation, groups))


def conv2d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv2d's weight, of shape `weight_size`."""
    return _weight("conv2d", input, weight_size, grad_output, (stride, padding, dilation, groups))


def conv3d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv3d's input, of shape `input_size`."""
    return _input("conv3d", input_size, weight, grad_output, (stride, padding, dilation, groups))


def conv3d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv3d's weight, of shape `weight_size`."""
    return _weight("conv3d", input, weight_size, grad_output, (stride, padding, dilation, groups))
