"""Padding with a constant or with elements of the input, and upsampling.

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


class _PadFromInput(Module):
    """`padding`: one number for all sides, or two per dimension, last dimension first."""

    dims: ClassVar[int]
    mode: ClassVar[str]

    def __init__(self, padding: int | tuple[int, ...]) -> None:
        super().__init__()
        self.padding = (padding,) * (2 * self.dims) if isinstance(padding, int) else tuple(padding)

    def forward(self, input: Tensor) -> Tensor:
        """The input, larger in its last dimensions."""
        out: Tensor = F.pad(input, self.padding, self.mode)
        return out

    def extra_repr(self) -> str:
        """The padding."""
        return f"{self.padding}"


class ReflectionPad1d(_PadFromInput):
    """The last dimension mirrored at its first and last element."""

    dims, mode = 1, "reflect"


class ReflectionPad2d(_PadFromInput):
    """The last two dimensions mirrored at their first and last elements."""

    dims, mode = 2, "reflect"


class ReflectionPad3d(_PadFromInput):
    """The last three dimensions mirrored at their first and last elements."""

    dims, mode = 3, "reflect"


class ReplicationPad1d(_PadFromInput):
    """The last dimension continued with its first and last element."""

    dims, mode = 1, "replicate"


class ReplicationPad2d(_PadFromInput):
    """The last two dimensions continued with their first and last elements."""

    dims, mode = 2, "replicate"


class ReplicationPad3d(_PadFromInput):
    """The last three dimensions continued with their first and last elements."""

    dims, mode = 3, "replicate"


class CircularPad1d(_PadFromInput):
    """The last dimension continued from its other end."""

    dims, mode = 1, "circular"


class CircularPad2d(_PadFromInput):
    """The last two dimensions continued from their other ends."""

    dims, mode = 2, "circular"


class CircularPad3d(_PadFromInput):
    """The last three dimensions continued from their other ends."""

    dims, mode = 3, "circular"


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
        self.name = type(self).__name__
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


class UpsamplingNearest2d(Upsample):
    """Resize (N, C, H, W) to `size`, or by `scale_factor`, by the nearest elements."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Resize (N, C, H, W) to `size`, or by `scale_factor`, bilinearly, corners aligned."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
