"""The generalized Pareto distribution (torch.distributions.generalized_pareto)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from .. import _top as ops
from . import constraints
from .distribution import Distribution
from .utils import batch_size, broadcast_all, standard_uniform

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """The generalized Pareto distribution of what exceeds `loc`, with `scale` and shape `concentration`.

    Source: https://pytorch.org/docs/stable/distributions.html#generalizedpareto
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(batch_size((loc, scale, concentration), self.loc), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, ops.where(self.concentration < 0, end, math.inf))

    def _shape(self) -> tuple[Any, Any]:
        """Where the concentration is nearly 0, and the concentration with 1 there."""
        none = ops.isclose(self.concentration, ops.zeros_like(self.concentration))
        return none, self.concentration.masked_fill(none, 1.0)

    def _z(self, value: Any) -> Any:
        return (value - self.loc) / self.scale

    @property
    def mean(self) -> Any:
        known = self.concentration < 1
        safe = ops.where(known, self.concentration, 0.5)
        return ops.where(known, self.loc + self.scale / (1 - safe), math.nan)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        known = self.concentration < 0.5
        safe = ops.where(known, self.concentration, 0.25)
        return ops.where(known, self.scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe)), math.nan)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        return self.icdf(standard_uniform(self.loc, self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        z, (none, safe) = self._z(value), self._shape()
        power = 1 / safe + ops.ones_like(z)
        curved = ops.where(power == 0, power, power * ops.log1p(safe * z))
        return -self.scale.log() - ops.where(none, z, curved)

    def log_survival_function(self, value: Any) -> Any:
        """The logarithm of the probability of more than `value`."""
        if self._validate_args:
            self._validate_sample(value)
        z, (none, safe) = self._z(value), self._shape()
        return ops.where(none, -z, -ops.log1p(safe * z) / safe)

    def log_cdf(self, value: Any) -> Any:
        """The logarithm of `cdf`."""
        return ops.log1p(-ops.exp(self.log_survival_function(value)))

    def cdf(self, value: Any) -> Any:
        return ops.exp(self.log_cdf(value))

    def icdf(self, value: Any) -> Any:
        left, (none, safe) = ops.log1p(-value), self._shape()
        curved = self.loc + self.scale / safe * ops.expm1(-safe * left)
        return ops.where(none, self.loc - self.scale * left, curved)

    def entropy(self) -> Any:
        found = ops.log(self.scale) + self.concentration + 1
        return found.expand(self._batch_shape)
