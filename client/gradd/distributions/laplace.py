"""The Laplace distribution (torch.distributions.laplace)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from .. import _top as ops
from .._surface import finfo
from . import constraints
from .distribution import Distribution
from .utils import batch_size, broadcast_all, standard_uniform

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Laplace"]


class Laplace(Distribution):
    """The Laplace distribution: exponential on both sides of `loc`, with the mean distance `scale`.

    Source: https://pytorch.org/docs/stable/distributions.html#laplace
    """

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(batch_size((loc, scale), self.loc), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Any:
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        # In [eps - 1, 1): the logarithm of 0 is not met.
        low = finfo(self.loc.dtype).eps - 1
        u = standard_uniform(self.loc, self._extended_shape(sample_shape)) * (1 - low) + low
        return self.loc - self.scale * u.sign() * ops.log1p(-u.abs())

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return -ops.log(2 * self.scale) - (value - self.loc).abs() / self.scale

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        distance = value - self.loc
        return 0.5 - 0.5 * distance.sign() * ops.expm1(-distance.abs() / self.scale)

    def icdf(self, value: Any) -> Any:
        side = value - 0.5
        return self.loc - self.scale * side.sign() * ops.log1p(-2 * side.abs())

    def entropy(self) -> Any:
        return 1 + ops.log(2 * self.scale)
