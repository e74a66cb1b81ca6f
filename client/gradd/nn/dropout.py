"""Dropout of elements, and of whole channels, to zero or (alpha) to what SELU saturates at.

Source: https://pytorch.org/docs/stable/nn.html#dropout-layers
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import functional as F
from .module import Module

if TYPE_CHECKING:
    from .._tensor import Tensor


class _Dropout(Module):
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        """The probability, and whether it overwrites its input."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """While training: each element is zeroed with probability `p`, the others are scaled by 1 / (1 - p)."""

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.dropout(input, self.p, self.training, self.inplace)
        return out


class Dropout1d(_Dropout):
    """While training: each channel of (N, C, L) is zeroed with probability `p`, as a whole."""

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.dropout1d(input, self.p, self.training, self.inplace)
        return out


class Dropout2d(_Dropout):
    """While training: each channel of (N, C, H, W) is zeroed with probability `p`, as a whole."""

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.dropout2d(input, self.p, self.training, self.inplace)
        return out


class Dropout3d(_Dropout):
    """While training: each channel of (N, C, D, H, W) is zeroed with probability `p`, as a whole."""

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.dropout3d(input, self.p, self.training, self.inplace)
        return out


class AlphaDropout(_Dropout):
    """While training: each element saturates with probability `p`, as by SELU; mean and variance stay."""

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.alpha_dropout(input, self.p, self.training)
        return out


class FeatureAlphaDropout(_Dropout):
    """While training: each channel of (N, C, *) saturates with probability `p`, as a whole."""

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.feature_alpha_dropout(input, self.p, self.training)
        return out
