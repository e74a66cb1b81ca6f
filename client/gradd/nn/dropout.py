"""Dropout.

Source: https://pytorch.org/docs/stable/generated/torch.nn.Dropout.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import functional as F
from .module import Module

if TYPE_CHECKING:
    from .._tensor import Tensor


class Dropout(Module):
    """While training: each element is zeroed with probability `p`, the others are scaled by 1 / (1 - p)."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.dropout(input, self.p, self.training, self.inplace)
        return out

    def extra_repr(self) -> str:
        """The probability, and whether it overwrites its input."""
        return f"p={self.p}, inplace={self.inplace}"
