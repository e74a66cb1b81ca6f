"""The Cauchy distribution (torch.distributions.cauchy)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from .. import _top as ops
from . import constraints
from .distribution import Distribution
from .utils import batch_size, broadcast_all, standard_uniform

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Cauchy"]


class Cauchy(Distribution):
    """The Cauchy distribution with median `loc` and half width at half maximum `scale`.

    Source: https://pytorch.org/docs/stable/distributions.html#cauchy
    """

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(batch_size((loc, scale), self.loc), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.loc.new_full(self._extended_shape(), math.nan)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return self.loc.new_full(self._extended_shape(), math.inf)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        return self.icdf(standard_uniform(self.loc, self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - ((value - self.loc) / self.scale).pow(2).log1p()

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return ops.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        return ops.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + self.scale.log()
