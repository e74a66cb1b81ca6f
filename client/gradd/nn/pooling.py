"""Maxima put back where they were, MaxUnpool1d to 3d, and maxima of windows at drawn places,
FractionalMaxPool2d and 3d.

Source: https://pytorch.org/docs/stable/nn.html#pooling-layers
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from . import functional as F
from ._layer import under
from .module import Module
from .modules.utils import _ntuple

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


class _FractionalMaxPool(Module):
    """Maxima of `kernel_size` windows, as many as `output_size` or `output_ratio` of the input's sizes."""

    dims: ClassVar[int]
    _random_samples: Tensor | None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "dims" in vars(cls):
            cls.__init__ = under(cls.__name__, cls.__init__)  # type: ignore[method-assign]

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        many = _ntuple(self.dims)
        if self.dims == 3 and min(many(kernel_size)) <= 0:
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        self.kernel_size, self.return_indices = many(kernel_size), return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else many(output_size)
        self.output_ratio = None if output_ratio is None else many(output_ratio)
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"FractionalMaxPool{self.dims}d requires specifying either an output size, or a pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        """(N, C, *) to (N, C, *output_size), and where each came from with `return_indices`."""
        pool = getattr(F, f"fractional_max_pool{self.dims}d")
        return pool(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """Maxima of images (N, C, H, W), over windows at places drawn anew for each plane and call."""

    dims = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    """Maxima of volumes (N, C, D, H, W), over windows at places drawn anew for each plane and call."""

    dims = 3
