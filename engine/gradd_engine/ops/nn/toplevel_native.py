"""What PyTorch's layers call at the top level, under parameters of its own.

Source: https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/native_functions.yaml
"""

from __future__ import annotations

from typing import Any

from ...declare import public
from ...schema import named
from ...tensor import Tensor
from ..index import embedding
from .toplevel import layer


@public("", "nn.functional", forms="(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor")
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Any:
    """A convolution over time of [time, batch, channels] with a weight of [width, channels, channels out]
    (torch.nn.functional.conv_tbc).

    RuntimeError for other dimensions.
    """
    if input.ndim != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if weight.ndim != 3:
        raise RuntimeError("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    if bias.ndim != 1:
        raise RuntimeError("Bias must be 1-D")
    if input.shape[2] != weight.shape[1]:
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if weight.shape[2] != bias.shape[0]:
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    moved, kernel = named.permute(input, [1, 2, 0]), named.permute(weight, [2, 1, 0])
    return named.permute(layer("conv1d")(moved, kernel, bias, 1, pad), [2, 0, 1]).contiguous()


@public(
    forms="(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False) -> tuple[Tensor, Tensor]"
)
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Any:
    """See torch.nn.functional.max_pool1d: maxima, and where they are."""
    pool = layer("max_pool1d_with_indices")
    return pool(input, kernel_size, stride or None, padding, dilation, ceil_mode)


@public()
def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Any:
    """See torch.nn.functional.conv1d, 2d and 3d, by the dimensions of the weight; transposed ones too."""
    name = f"conv{'_transpose' * transposed}{weight.ndim - 2}d"
    if transposed:
        return layer(name)(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return layer(name)(input, weight, bias, stride, padding, dilation, groups)


@public(name="embedding_renorm_")
def embedding_renorm_(input: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Any:
    """A table whose rows that are looked up are scaled to `max_norm` where they are longer, in place."""
    embedding.renormed(input, indices, max_norm, norm_type)
    return input
