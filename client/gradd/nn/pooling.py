"""Maxima put back where they were: MaxUnpool1d to 3d.

Source: https://pytorch.org/docs/stable/nn.html#pooling-layers
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from . import functional as F
from .module import Module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor import Tensor


class _MaxUnpool(Module):
    """Zeros with maxima at the indices that the pooling of the same arguments gave."""

    dims: ClassVar[int]

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = self._each(kernel_size)
        self.stride = self.kernel_size if stride is None else self._each(stride)
        self.padding = self._each(padding)

    def _each(self, value: Any) -> tuple[int, ...]:
        return (value,) * self.dims if isinstance(value, int) else tuple(value)

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Maxima and indices of one shape to `output_size`, by default the least that they may come from."""
        unpool = getattr(F, f"max_unpool{self.dims}d")
        out: Tensor = unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)
        return out

    def extra_repr(self) -> str:
        """The window."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """Maxima of rows (N, C, L) put back where `MaxPool1d` found them, zeros elsewhere."""

    dims = 1


class MaxUnpool2d(_MaxUnpool):
    """Maxima of images (N, C, H, W) put back where `MaxPool2d` found them, zeros elsewhere."""

    dims = 2


class MaxUnpool3d(_MaxUnpool):
    """Maxima of volumes (N, C, D, H, W) put back where `MaxPool3d` found them, zeros elsewhere."""

    dims = 3
