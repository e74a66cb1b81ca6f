"""Argument checks of convolutions, with PyTorch's messages, and their result geometry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, numel
from ..shared import image_strides
from .convroom import conv_room, transpose_room

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...data import DType
    from ...tensor import Tensor

_C_NAMES = {
    "Bool": "bool", "Byte": "unsigned char", "Char": "signed char", "Short": "short int", "Int": "int",
    "Long": "long int", "Half": "c10::Half", "BFloat16": "c10::BFloat16", "Float": "float",
    "Double": "double", "ComplexFloat": "c10::complex<float>", "ComplexDouble": "c10::complex<double>",
}  # fmt: skip


def out_size(size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> tuple[int, ...]:
    """The window positions along each spatial dimension."""
    return tuple(
        (s + 2 * p - d * (k - 1) - 1) // t + 1
        for s, k, t, p, d in zip(size, kernel, stride, padding, dilation, strict=True)
    )


def _check_dtypes(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    if weight.dtype is not input.dtype:
        raise RuntimeError(
            f"Input type ({input.dtype.tensor_type}) and weight type ({weight.dtype.tensor_type}) should "
            "be the same or input should be a MKLDNN tensor and weight is a dense tensor"
        )
    if bias is not None and bias.dtype is not input.dtype:
        raise RuntimeError(
            f"Input type ({_c_name(input.dtype)}) and bias type ({_c_name(bias.dtype)}) should be the same"
        )
    if input.dtype.title == "Bool":
        raise NotImplementedError("\"slow_conv2d_cpu\" not implemented for 'Bool'")


def _c_name(dtype: DType) -> str:
    return _C_NAMES[dtype.title]


def check_numbers(dims: int, groups: int, **lists: Sequence[int]) -> None:
    """Raise RuntimeError unless stride, padding and dilation have one valid number per dimension."""
    for name, values in lists.items():
        if len(values) != dims:
            raise RuntimeError(
                f"expected {name} to be a single integer value or a list of {dims} values to match the "
                f"convolution dimensions, but got {name}={list(values)}"
            )
    if any(p < 0 for p in lists["padding"]):
        raise RuntimeError("negative padding is not supported")
    if any(v <= 0 for v in lists["stride"]):
        raise RuntimeError("non-positive stride is not supported")
    if any(v <= 0 for v in lists["dilation"]):
        raise RuntimeError("dilation should be greater than zero")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")


def _check_bias(weight: Tensor, bias: Tensor | None, channels: int, transposed: str = "") -> None:
    if bias is not None and tuple(bias.shape) != (channels,):
        raise RuntimeError(
            f"Given {transposed}weight of size {list(weight.shape)}, expected bias to be 1-dimensional with "
            f"{channels} elements, but got bias of size {list(bias.shape)} instead"
        )


def conv_infer(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Meta:
    """The geometry of a convolution's result; RuntimeError if arguments do not fit."""
    dims = weight.ndim - 2
    _check_dtypes(input, weight, bias)
    check_numbers(dims, groups, stride=stride, padding=padding, dilation=dilation)
    if input.ndim != weight.ndim:
        raise RuntimeError(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight "
            f"{list(weight.shape)}, but got {input.ndim}-dimensional input of size {list(input.shape)} "
            "instead"
        )
    shape = list(weight.shape)
    if shape[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got "
            f"weight of size {shape} instead"
        )
    if shape[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got "
            f"weight of size [{shape}] instead"
        )
    if input.shape[1] != shape[1] * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {shape}, expected input{list(input.shape)} to have "
            f"{shape[1] * groups} channels, but got {input.shape[1]} channels instead"
        )
    _check_bias(weight, bias, shape[0])
    padded = [s + 2 * p for s, p in zip(input.shape[2:], padding, strict=True)]
    span = [d * (k - 1) + 1 for k, d in zip(shape[2:], dilation, strict=True)]
    if any(k > s for k, s in zip(span, padded, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({' x '.join(map(str, padded))}). Kernel size: "
            f"({' x '.join(map(str, span))}). Kernel size can't be greater than actual input size"
        )
    if not numel(input.shape[2:]):
        raise RuntimeError(
            f"Only zero batch or zero channel inputs are supported, but got input shape: {list(input.shape)}"
        )
    found = (input.shape[0], shape[0], *out_size(input.shape[2:], shape[2:], stride, padding, dilation))
    meta = Meta(found, input.dtype, image_strides(found, input, weight))
    return conv_room(meta, input, weight, stride, padding, dilation)


def transpose_infer(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Meta:
    """The geometry of a transposed convolution to `size`; RuntimeError if arguments do not fit."""
    dims = weight.ndim - 2
    _check_dtypes(input, weight, bias)
    check_numbers(dims, groups, stride=stride, padding=padding, dilation=dilation)
    if input.ndim != weight.ndim or input.shape[1] != weight.shape[0]:
        raise RuntimeError(
            f"Given transposed=1, weight of size {list(weight.shape)}, expected input{list(input.shape)} to "
            f"have {weight.shape[0]} channels, but got {input.shape[1]} channels instead"
        )
    channels = weight.shape[1] * groups
    _check_bias(weight, bias, channels, "transposed=1, ")
    if len(size) != dims or any(s <= 0 for s in size):
        raise RuntimeError(
            f"Given input size per channel: ({' x '.join(map(str, input.shape[2:]))}). Calculated output "
            f"size per channel: ({' x '.join(map(str, size))}). Output size is too small"
        )
    if out_size(size, weight.shape[2:], stride, padding, dilation) != tuple(input.shape[2:]):
        raise RuntimeError(f"a convolution does not lead from {list(size)} to {list(input.shape[2:])}")
    found = (input.shape[0], channels, *size)
    meta = Meta(found, input.dtype, image_strides(found, input, weight))
    return transpose_room(meta, input, weight, padding, groups)
