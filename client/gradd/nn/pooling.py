"""Pooling: MaxPool2d.

Source: https://pytorch.org/docs/stable/nn.html#pooling-layers
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import functional as F
from .module import Module

if TYPE_CHECKING:
    from .._tensor import Tensor

_Sizes = int | tuple[int, int]


class MaxPool2d(Module):
    """The largest element of each window of (N, C, H, W); `stride` None is the window's size."""

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

    def forward(self, input: Tensor) -> Any:
        """(N, C, H, W) to (N, C, H_out, W_out), and where each came from with `return_indices`."""
        return F.max_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        """The window."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )
