"""Sliding blocks of images as columns, and back (torch.nn)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import functional as F
from .module import Module

if TYPE_CHECKING:
    from .._tensor import Tensor


class Unfold(Module):
    """The blocks of (N, C, H, W) as columns, (N, C * cells of a block, blocks)."""

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, H, W) or (C, H, W) to columns."""
        out: Tensor = F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)
        return out

    def extra_repr(self) -> str:
        """The blocks."""
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )


class Fold(Unfold):
    """Columns of blocks added into images (N, C, *output_size)."""

    def __init__(
        self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """(N, C * cells of a block, blocks), or without N, to images."""
        out: Tensor = F.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )
        return out

    def extra_repr(self) -> str:
        """The size and the blocks."""
        return f"output_size={self.output_size}, {super().extra_repr()}"
