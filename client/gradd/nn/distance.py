"""Distances of vectors as modules: CosineSimilarity, PairwiseDistance.

Source: https://pytorch.org/docs/stable/nn.html#distance-functions
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import functional as F
from .module import Module

if TYPE_CHECKING:
    from .._tensor import Tensor


class CosineSimilarity(Module):
    """The cosine of the angle of two vectors along `dim`."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Two tensors to their shape without `dim`."""
        out: Tensor = F.cosine_similarity(x1, x2, self.dim, self.eps)
        return out


class PairwiseDistance(Module):
    """The p-norm of the difference along the last dimension, `eps` added to it."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """(N, D) or (D) to (N) or ()."""
        out: Tensor = F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
        return out
