"""Convolutions: Conv1d to 3d, and ConvTranspose1d to 3d.

Source of shapes, checks and initial values: https://pytorch.org/docs/stable/nn.html#convolution-layers
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from . import functional as F
from . import init
from ._layer import under
from ._make import empty
from .module import Module
from .parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor import Tensor


def _each(value: int | tuple[int, ...], dims: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * dims


class _Conv(Module):
    """Base of convolutions; `dims`: number of dimensions of the kernel."""

    dims: ClassVar[int]
    transposed: bool = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "dims" in vars(cls):
            cls.__init__ = under(cls.__name__, cls.__init__)  # type: ignore[method-assign]

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
        self.padding_mode, self.transposed = padding_mode, type(self).transposed
        self.output_padding = (0,) * n
        self._check()
        self._reversed_padding_repeated_twice = self._sides()
        channels = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        self.weight = Parameter(empty((channels[0], channels[1] // groups, *self.kernel_size), dtype))
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

    def reset_parameters(self) -> None:
        """Draw initial values."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._fans(self.weight)
            if fan_in:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def _conv_forward(self, input: Tensor, weight: Any, bias: Any) -> Tensor:
        """The convolution with another weight and bias: what subclasses call."""
        apply = getattr(F, f"conv{self.dims}d")
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._reversed_padding_repeated_twice, self.padding_mode), 0
        out: Tensor = apply(input, weight, bias, self.stride, padding, self.dilation, self.groups)
        return out

    def forward(self, input: Tensor) -> Tensor:
        """(N, in_channels, *) to (N, out_channels, *); N may be omitted."""
        return self._conv_forward(input, self.weight, self.bias)

    def _sides(self) -> list[int] | tuple[int, ...]:
        """The padding before and after each dimension, the last one first; a list if its name was given."""
        if self.padding == "valid":
            return [0, 0] * self.dims
        if self.padding == "same":
            whole = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
            return [n for w in reversed(whole) for n in (w // 2, w - w // 2)]
        assert isinstance(self.padding, tuple)
        return tuple(n for p in reversed(self.padding) for n in (p, p))

    def extra_repr(self) -> str:
        """Channels and non-default options."""
        zeros, ones = (0,) * self.dims, (1,) * self.dims
        parts = [
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}",
            f"padding={self.padding}" if self.padding != zeros else "",
            f"dilation={self.dilation}" if self.dilation != ones else "",
            f"output_padding={self.output_padding}" if self.output_padding != zeros else "",
            f"groups={self.groups}" if self.groups != 1 else "",
            "bias=False" if self.bias is None else "",
            f"padding_mode={self.padding_mode}" if self.padding_mode != "zeros" else "",
        ]
        return ", ".join(part for part in parts if part)


class Conv1d(_Conv):
    """Cross-correlation along one dimension: (N, C_in, L) to (N, C_out, L_out).

    The weight (C_out, C_in / groups, kernel) and the bias are initially uniform in ±1/sqrt(fan in).
    """

    dims = 1


class Conv2d(_Conv):
    """Cross-correlation along two dimensions: (N, C_in, H, W) to (N, C_out, H_out, W_out).

    The weight (C_out, C_in / groups, kernel height, width) and the bias: initially uniform in ±1/sqrt(fan
    in).
    """

    dims = 2


class Conv3d(_Conv):
    """Cross-correlation along three dimensions: (N, C_in, D, H, W) to (N, C_out, D_out, H_out, W_out).

    The weight (C_out, C_in / groups, *kernel) and the bias are initially uniform in ±1/sqrt(fan in).
    """

    dims = 3


class _ConvTranspose(_Conv):
    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] = 0,
        output_padding: int | tuple[int, ...] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | tuple[int, ...] = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, dtype=dtype
        )
        self.output_padding = _each(output_padding, self.dims)

    def _output_padding(self, input: Tensor, wanted: Sequence[int] | None) -> tuple[int, ...]:
        """The output padding for `output_size`; ValueError if none gives it."""
        if wanted is None:
            return self.output_padding
        n = self.dims
        before = 2 if input.dim() == n + 2 else 1
        size = wanted[before:] if len(wanted) == before + n else wanted
        if len(size) != n:
            raise ValueError(
                f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {n} or {before + n} "
                f"elements (got {len(size)})"
            )
        assert isinstance(self.padding, tuple)
        least = [
            (length - 1) * stride - 2 * pad + dilation * (kernel - 1) + 1
            for length, stride, pad, dilation, kernel in zip(
                input.shape[before:], self.stride, self.padding, self.dilation, self.kernel_size, strict=True
            )
        ]
        most = [low + stride - 1 for low, stride in zip(least, self.stride, strict=True)]
        if any(not low <= s <= high for low, s, high in zip(least, size, most, strict=True)):
            raise ValueError(
                f"requested an output size of {size}, but valid sizes range from {least} to {most} "
                f"(for an input of {input.shape[2:]})"
            )
        return tuple(s - low for s, low in zip(size, least, strict=True))

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """(N, in_channels, *) to (N, out_channels, *); `output_size` chooses among the possible sizes."""
        apply = getattr(F, f"conv_transpose{self.dims}d")
        extra = self._output_padding(input, output_size)
        out: Tensor = apply(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )
        return out


class ConvTranspose1d(_ConvTranspose):
    """The transpose of Conv1d: (N, C_in, L) to (N, C_out, L_out); weight (C_in, C_out / groups, kernel)."""

    dims = 1


class ConvTranspose2d(_ConvTranspose):
    """The transpose of Conv2d: (N, C_in, H, W) to (N, C_out, H_out, W_out)."""

    dims = 2


class ConvTranspose3d(_ConvTranspose):
    """The transpose of Conv3d: (N, C_in, D, H, W) to (N, C_out, D_out, H_out, W_out)."""

    dims = 3
