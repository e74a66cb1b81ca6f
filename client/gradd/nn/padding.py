"""Constant padding, and upsampling: ConstantPad1d to 3d, ZeroPad1d to 3d, Upsample.

Source: https://pytorch.org/docs/stable/nn.html#padding-layers
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from . import functional as F
from .module import Module

if TYPE_CHECKING:
    from .._tensor import Tensor


class _ConstantPad(Module):
    """`padding`: one number for all sides, or two per dimension, last dimension first."""

    dims: ClassVar[int]

    def __init__(self, padding: int | tuple[int, ...], value: float) -> None:
        super().__init__()
        self.padding = (padding,) * (2 * self.dims) if isinstance(padding, int) else tuple(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """The input with `value` around its last dimensions."""
        out: Tensor = F.pad(input, self.padding, "constant", self.value)
        return out

    def extra_repr(self) -> str:
        """Padding and value."""
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """`value` before and after the last dimension."""

    dims = 1


class ConstantPad2d(_ConstantPad):
    """`value` around the last two dimensions."""

    dims = 2


class ConstantPad3d(_ConstantPad):
    """`value` around the last three dimensions."""

    dims = 3


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: int | tuple[int, ...]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """The padding."""
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad):
    """Zeros before and after the last dimension."""

    dims = 1


class ZeroPad2d(_ZeroPad):
    """Zeros around the last two dimensions."""

    dims = 2


class ZeroPad3d(_ZeroPad):
    """Zeros around the last three dimensions."""

    dims = 3


class Upsample(Module):
    """Resize (N, C, *) to `size`, or by `scale_factor`."""

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.size = size
        self.scale_factor: Any = None
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple(float(factor) for factor in scale_factor)
        elif scale_factor:
            self.scale_factor = float(scale_factor)
        self.mode, self.align_corners = mode, align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, *) to (N, C, *size)."""
        out: Tensor = F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )
        return out

    def extra_repr(self) -> str:
        """Size or factor, and the mode."""
        how = f"size={self.size!r}" if self.scale_factor is None else f"scale_factor={self.scale_factor!r}"
        return f"{how}, mode={self.mode!r}"
