"""Padding with a constant or with elements of the input, and upsampling.

Source: https://pytorch.org/docs/stable/nn.html#padding-layers
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from . import functional as F
from ._layer import under
from .module import Module

if TYPE_CHECKING:
    from .._tensor import Tensor


class _Pad(Module):
    """`padding`: one number for all sides, or two per dimension, last dimension first."""

    dims: ClassVar[int]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.__name__.startswith("_"):
            cls.__init__ = under(cls.__name__, cls.__init__)  # type: ignore[method-assign]

    def __init__(self, padding: int | tuple[int, ...]) -> None:
        super().__init__()
        self.padding = (padding,) * (2 * self.dims) if isinstance(padding, int) else tuple(padding)


class _ConstantPad(_Pad):
    """A number on all sides."""

    def __init__(self, padding: int | tuple[int, ...], value: float) -> None:
        super().__init__(padding)
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


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """Zeros before and after the last dimension."""


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """Zeros around the last two dimensions."""


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """Zeros around the last three dimensions."""


class _PadFromInput(_Pad):
    """Elements of the input on all sides."""

    mode: ClassVar[str]

    def forward(self, input: Tensor) -> Tensor:
        """The input, larger in its last dimensions."""
        out: Tensor = F.pad(input, self.padding, self.mode)
        return out

    def extra_repr(self) -> str:
        """The padding."""
        return f"{self.padding}"


class _ReflectionPad(_PadFromInput):
    mode = "reflect"


class ReflectionPad1d(_ReflectionPad):
    """The last dimension mirrored at its first and last element."""

    dims = 1


class ReflectionPad2d(_ReflectionPad):
    """The last two dimensions mirrored at their first and last elements."""

    dims = 2


class ReflectionPad3d(_ReflectionPad):
    """The last three dimensions mirrored at their first and last elements."""

    dims = 3


class _ReplicationPad(_PadFromInput):
    mode = "replicate"


class ReplicationPad1d(_ReplicationPad):
    """The last dimension continued with its first and last element."""

    dims = 1


class ReplicationPad2d(_ReplicationPad):
    """The last two dimensions continued with their first and last elements."""

    dims = 2


class ReplicationPad3d(_ReplicationPad):
    """The last three dimensions continued with their first and last elements."""

    dims = 3


class _CircularPad(_PadFromInput):
    mode = "circular"

    def _check_input_dim(self, input: Tensor) -> None:
        alone = self.dims + 1
        if input.dim() not in (alone, alone + 1):
            raise ValueError(f"expected {alone}D or {alone + 1}D input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        """The input, larger in its last dimensions; ValueError for other numbers of dimensions."""
        self._check_input_dim(input)
        return super().forward(input)


class CircularPad1d(_CircularPad):
    """The last dimension continued from its other end."""

    dims = 1


class CircularPad2d(_CircularPad):
    """The last two dimensions continued from their other ends."""

    dims = 2


class CircularPad3d(_CircularPad):
    """The last three dimensions continued from their other ends."""

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
