"""Layers at the top level, which nn.functional has under the same names, some with other parameters."""

from __future__ import annotations

from typing import Any

from ...declare import PUBLIC, public
from ...schema import REGISTRY, named
from ...tensor import Tensor


def layer(name: str) -> Any:
    """The function that nn.functional has under this name."""
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
    return layer("layer_norm")(input, normalized_shape, weight, bias, eps)


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
    return layer("group_norm")(input, num_groups, weight, bias, eps)


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
    function = layer("batch_norm")
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
    return layer("embedding")(indices, weight, padding, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


@public()
def rms_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: float | None = None
) -> Any:
    """See torch.nn.functional.rms_norm."""
    return layer("rms_norm")(input, normalized_shape, weight, eps)


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
    return layer("max_pool1d")(input, kernel_size, stride or None, padding, dilation, ceil_mode)


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
    return layer("max_pool2d")(input, kernel_size, stride or None, padding, dilation, ceil_mode)


@public()
def constant_pad_nd(input: Tensor, pad: Any, value: Any = 0) -> Any:
    """See torch.nn.functional.pad, of mode "constant"."""
    return named.constant_pad_nd(input, list(pad), value)


@public()
def max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Any:
    """See torch.nn.functional.max_pool3d."""
    return layer("max_pool3d")(input, kernel_size, stride or None, padding, dilation, ceil_mode)


@public(forms="(input, output_size) -> tuple[Tensor, Tensor]")
def adaptive_max_pool1d(input: Tensor, output_size: Any) -> Any:
    """See torch.nn.functional.adaptive_max_pool1d: maxima, and where they are."""
    return layer("adaptive_max_pool1d")(input, output_size, True)


@public()
def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    """See torch.nn.functional.grid_sample, whose modes are given by their number."""
    mode = ("bilinear", "nearest", "bicubic")[interpolation_mode]
    padding = ("zeros", "border", "reflection")[padding_mode]
    return layer("grid_sample")(input, grid, mode, padding, align_corners)


@public(name="index_put_")
def index_put_(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Any:
    """See torch.Tensor.index_put_."""
    return named.index_put_(input, list(indices), values, accumulate)


@public(name="addmv_")
def addmv_(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """See torch.Tensor.addmv_."""
    return named.addmv_(input, mat, vec, beta=beta, alpha=alpha)
