"""The uniform distribution (torch.distributions.uniform)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import _top as ops
from . import constraints
from ._checks import known_number
from .distribution import Distribution
from .utils import batch_size, broadcast_all, standard_uniform

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Uniform"]


class Uniform(Distribution):
    """The uniform distribution over [low, high).

    Source: https://pytorch.org/docs/stable/distributions.html#uniform
    """

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(batch_size((low, high), self.low), validate_args=validate_args)

    @property
    def arg_constraints(self) -> dict[str, Any]:
        low, high = (
            known_number(t) if t.ndim == 0 and known_number(t) is not None else t
            for t in (self.low, self.high)
        )
        return {"low": constraints.less_than(high), "high": constraints.greater_than(low)}

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Any:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Any:
        return math.nan * self.high

    @property
    def stddev(self) -> Any:
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Any:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        noise = standard_uniform(self.low, self._extended_shape(sample_shape))
        return self.low + noise * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        inside = self.low.le(value) & self.high.gt(value)
        return ops.log(inside.to(self.low.dtype)) - ops.log(self.high - self.low)

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Any:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        return ops.log(self.high - self.low)
