"""Bases of layers that do more than store their arguments."""

from __future__ import annotations

from typing import Any

from gradd_engine.ops.nn.losses import reduction_of

from .._tensor import Tensor
from ._layer import Stored
from .module import Module

Sizes = int | tuple[int, int]


class Loss(Module):
    """A loss with a `reduction`, "mean", "sum" or "none", also set by the deprecated `size_average` and
    `reduce`.
    """

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        legacy = size_average is not None or reduce is not None
        self.reduction = reduction_of(reduction, size_average, reduce) if legacy else reduction


class Weighted(Loss):
    """A loss with weights, stored as a buffer."""

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class Triplet(Loss):
    """A triplet loss with a positive `margin`."""

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead")
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap


class Distance(Module):
    """A p-norm of differences."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim


class Shrink(Module):
    """Values near 0 are 0."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        """Lambda."""
        return str(self.lambd)


class Dropping(Module):
    """Drops with probability `p` in training mode; ValueError unless it is in [0, 1]."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        """The probability, and whether it is in place."""
        return f"p={self.p}, inplace={self.inplace}"


class MaxPool(Module):
    """Maxima of windows; the default `stride` is the window's size."""

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation, self.ceil_mode = padding, dilation, ceil_mode
        self.return_indices = return_indices

    def extra_repr(self) -> str:
        """The window."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


def _one(value: int | tuple[int, ...]) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


class AvgPool(Module):
    """Averages of windows."""

    kernel_size: Any
    stride: Any
    padding: Any

    def extra_repr(self) -> str:
        """The window."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPoolOf1(AvgPool):
    """Averages of windows in one dimension; the default `stride` is the window's size."""

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


class AvgPoolOf2(AvgPool):
    """Averages of windows in two dimensions; the default `stride` is the window's size."""

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode, self.count_include_pad = padding, ceil_mode, count_include_pad
        self.divisor_override = divisor_override


class AdaptiveAvgPool(Stored):
    """Averages over as many windows as are asked for."""


class AdaptiveMaxPool(Stored):
    """Maxima over as many windows as are asked for."""


class PowerPool(Stored):
    """p-norms of windows."""
