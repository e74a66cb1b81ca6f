"""Pooling: MaxPool1d, MaxPool2d, AvgPool1d, AvgPool2d, AdaptiveAvgPool1d, AdaptiveAvgPool2d.

Source: https://pytorch.org/docs/stable/nn.html#pooling-layers
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import functional as F
from .module import Module

if TYPE_CHECKING:
    from .._tensor import Tensor

_Sizes = int | tuple[int, int]


def _one(value: int | tuple[int, ...]) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


class _MaxPool(Module):
    def __init__(
        self,
        kernel_size: _Sizes,
        stride: _Sizes | None = None,
        padding: _Sizes = 0,
        dilation: _Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation, self.ceil_mode = padding, dilation, ceil_mode
        self.return_indices = return_indices

    def _how(self) -> dict[str, Any]:
        return {
            "kernel_size": self.kernel_size,
            "stride": self.stride,
            "padding": self.padding,
            "dilation": self.dilation,
            "ceil_mode": self.ceil_mode,
            "return_indices": self.return_indices,
        }

    def extra_repr(self) -> str:
        """The window."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """The largest element of each window of (N, C, L); `stride` None is the window's size."""

    def forward(self, input: Tensor) -> Any:
        """(N, C, L) to (N, C, L_out), and where each came from with `return_indices`."""
        return F.max_pool1d(input, **self._how())


class MaxPool2d(_MaxPool):
    """The largest element of each window of (N, C, H, W); `stride` None is the window's size."""

    def forward(self, input: Tensor) -> Any:
        """(N, C, H, W) to (N, C, H_out, W_out), and where each came from with `return_indices`."""
        return F.max_pool2d(input, **self._how())


class _AvgPool(Module):
    kernel_size: Any
    stride: Any
    padding: Any
    ceil_mode: bool
    count_include_pad: bool

    def extra_repr(self) -> str:
        """The window."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPool):
    """The average of each window of (N, C, L); `stride` None is the window's size."""

    def __init__(
        self,
        kernel_size: int | tuple[int],
        stride: int | tuple[int] | None = None,
        padding: int | tuple[int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size, self.padding = _one(kernel_size), _one(padding)
        self.stride = self.kernel_size if stride is None else _one(stride)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, L) to (N, C, L_out)."""
        out: Tensor = F.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad
        )
        return out


class AvgPool2d(_AvgPool):
    """The average of each window of (N, C, H, W), or its sum over `divisor_override`."""

    def __init__(
        self,
        kernel_size: _Sizes,
        stride: _Sizes | None = None,
        padding: _Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode, self.count_include_pad = padding, ceil_mode, count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, H, W) to (N, C, H_out, W_out)."""
        out: Tensor = F.avg_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )
        return out


class _AdaptiveAvgPool(Module):
    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        """The size of the output."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """Averages over the last dimension, as many as `output_size`."""

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, L) to (N, C, output_size)."""
        out: Tensor = F.adaptive_avg_pool1d(input, self.output_size)
        return out


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """Averages over the last two dimensions; a None in `output_size` keeps a size."""

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, H, W) to (N, C, *output_size)."""
        out: Tensor = F.adaptive_avg_pool2d(input, self.output_size)
        return out
