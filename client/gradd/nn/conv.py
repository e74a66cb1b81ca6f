"""Convolutions: Conv1d, Conv2d.

Source of shapes, checks and initial values: https://pytorch.org/docs/stable/nn.html#convolution-layers
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from . import functional as F
from . import init
from ._make import empty
from .module import Module
from .parameter import Parameter

if TYPE_CHECKING:
    from .._tensor import Tensor


def _each(value: int | tuple[int, ...], dims: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * dims


class _Conv(Module):
    """What convolutions share; `dims` is how many dimensions the kernel slides along."""

    dims: ClassVar[int]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: str | int | tuple[int, ...] = 0,
        dilation: int | tuple[int, ...] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        n = self.dims
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation = (_each(v, n) for v in (kernel_size, stride, dilation))
        self.padding = padding if isinstance(padding, str) else _each(padding, n)
        self.padding_mode = padding_mode
        self._check()
        self.weight = Parameter(empty((out_channels, in_channels // groups, *self.kernel_size), dtype))
        self.bias: Parameter | None
        self.register_parameter("bias", Parameter(empty((out_channels,), dtype)) if bias else None)
        self.reset_parameters()

    def _check(self) -> None:
        if self.groups <= 0:
            raise ValueError("groups must be a positive integer")
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        if self.out_channels % self.groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(self.padding, str):
            if self.padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string '{self.padding}', should be one of 'valid', 'same'")
            if self.padding == "same" and any(s != 1 for s in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if self.padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(
                "padding_mode must be one of 'zeros', 'reflect', 'replicate', 'circular', "
                f"but got padding_mode='{self.padding_mode}'"
            )
        if self.padding_mode != "zeros":
            raise NotImplementedError(f"padding_mode='{self.padding_mode}' is not yet supported by gradd")

    def reset_parameters(self) -> None:
        """Draw initial values."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._fans(self.weight)
            if fan_in:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """(N, in_channels, *) to (N, out_channels, *); N may be left out."""
        apply = getattr(F, f"conv{self.dims}d")
        out: Tensor = apply(
            input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups
        )
        return out

    def extra_repr(self) -> str:
        """Channels and whatever differs from the defaults."""
        zeros, ones = (0,) * self.dims, (1,) * self.dims
        parts = [
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}",
            f"padding={self.padding}" if self.padding != zeros else "",
            f"dilation={self.dilation}" if self.dilation != ones else "",
            f"groups={self.groups}" if self.groups != 1 else "",
            "bias=False" if self.bias is None else "",
        ]
        return ", ".join(part for part in parts if part)


class Conv1d(_Conv):
    """Cross-correlation along one dimension: (N, C_in, L) to (N, C_out, L_out).

    The weight (C_out, C_in / groups, kernel) and the bias begin uniform in ±1/sqrt(fan in).
    """

    dims = 1


class Conv2d(_Conv):
    """Cross-correlation along two dimensions: (N, C_in, H, W) to (N, C_out, H_out, W_out).

    The weight (C_out, C_in / groups, kernel height, width) and the bias begin uniform in ±1/sqrt(fan in).
    """

    dims = 2
