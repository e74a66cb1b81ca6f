"""Layers at the top level, which nn.functional has under the same names, some with other parameters."""

from __future__ import annotations

from typing import Any

from ...declare import PUBLIC, public
from ...schema import REGISTRY, named
from ...tensor import Tensor


def _layer(name: str) -> Any:
    return PUBLIC.get(("nn.functional", name)) or REGISTRY[name].call


@public()
def layer_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Any:
    """See torch.nn.functional.layer_norm."""
    return _layer("layer_norm")(input, normalized_shape, weight, bias, eps)


@public()
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Any:
    """See torch.nn.functional.group_norm."""
    return _layer("group_norm")(input, num_groups, weight, bias, eps)


@public()
def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Any:
    """See torch.nn.functional.batch_norm, whose parameters are in another order."""
    function = _layer("batch_norm")
    return function(input, running_mean, running_var, weight, bias, training, momentum, eps)


@public()
def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """See torch.nn.functional.embedding, whose first parameters are the other way round."""
    padding = None if padding_idx < 0 else padding_idx
    return _layer("embedding")(indices, weight, padding, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


@public()
def rms_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: float | None = None
) -> Any:
    """See torch.nn.functional.rms_norm."""
    return _layer("rms_norm")(input, normalized_shape, weight, eps)


@public()
def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Any:
    """See torch.nn.functional.max_pool1d."""
    return _layer("max_pool1d")(input, kernel_size, stride or None, padding, dilation, ceil_mode)


@public()
def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Any:
    """See torch.nn.functional.max_pool2d."""
    return _layer("max_pool2d")(input, kernel_size, stride or None, padding, dilation, ceil_mode)


@public()
def constant_pad_nd(input: Tensor, pad: Any, value: Any = 0) -> Any:
    """See torch.nn.functional.pad, of mode "constant"."""
    return named.constant_pad_nd(input, list(pad), value)
