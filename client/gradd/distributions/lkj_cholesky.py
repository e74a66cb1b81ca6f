"""The LKJ distribution (torch.distributions.lkj_cholesky)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradd_engine.graph import no_grad

from .. import _top as ops
from .._surface import finfo
from . import constraints
from .beta import Beta
from .distribution import Distribution
from .utils import broadcast_all, standard_normal

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Triangular factors [dim, dim] of correlation matrices, whose density is proportional to the determinant
    to the power `concentration` - 1. ValueError for a `dim` below 2.

    Lewandowski, Kurowicka and Joe, "Generating random correlation matrices based on vines and extended onion
    method" (2009), by the onion.
    Source: https://pytorch.org/docs/stable/distributions.html#lkjcholesky
    """

    arg_constraints: ClassVar[Any] = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.shape, (dim, dim), validate_args=validate_args)

    def _beta(self) -> Beta:
        """Of each row, how much of its square length lies below the diagonal: [..., dim]."""
        row = ops.arange(-1, self.dim - 1, dtype=self.concentration.dtype).clamp(min=0)
        rest = (self.concentration + 0.5 * (self.dim - 2)).unsqueeze(-1) - 0.5 * row
        return Beta(row + 0.5, rest, validate_args=False)

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        with no_grad():
            below = self._beta().sample(sample_shape).unsqueeze(-1)
            noise = standard_normal(below[..., :1], self._extended_shape(sample_shape)).tril(-1)
            # the first row has nothing there
            length = noise.square().sum(-1, keepdim=True).sqrt()
            w = below.sqrt() * noise / length.masked_fill(length == 0, 1.0)
            left = (1 - w.square().sum(-1)).clamp(min=finfo(w.dtype).tiny)
            return w + left.sqrt().diag_embed()

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        n = self.dim
        order = ops.arange(2, n + 1, dtype=self.concentration.dtype)
        powers = 2 * (self.concentration - 1).unsqueeze(-1) + n - order
        density = (powers * value.diagonal(dim1=-1, dim2=-2)[..., 1:].log()).sum(-1)
        alpha = self.concentration + 0.5 * (n - 1)
        normalizer = ops.mvlgamma(alpha - 0.5, n - 1) - ops.lgamma(alpha) * (n - 1)
        return density - normalizer - 0.5 * (n - 1) * math.log(math.pi)
