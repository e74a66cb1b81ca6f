"""The Weibull distribution (torch.distributions.weibull)."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import _top as ops
from . import constraints
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .utils import broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """The Weibull distribution: `scale` times a power, 1 / `concentration`, of an exponential one.

    Source: https://pytorch.org/docs/stable/distributions.html#weibull
    """

    arg_constraints: ClassVar[Any] = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    _also_expanded = ("concentration_reciprocal",)

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(ops.ones_like(self.scale), validate_args=False)
        transforms = [
            PowerTransform(exponent=self.concentration_reciprocal),
            AffineTransform(loc=0, scale=self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def _moment(self, n: int) -> Any:
        return ops.exp(ops.lgamma(1 + n * self.concentration_reciprocal))

    @property
    def mean(self) -> Any:
        return self.scale * self._moment(1)

    @property
    def mode(self) -> Any:
        ratio = (self.concentration - 1) / self.concentration
        return self.scale * ratio ** self.concentration.reciprocal()

    @property
    def variance(self) -> Any:
        return self.scale.pow(2) * (self._moment(2) - self._moment(1).pow(2))

    def entropy(self) -> Any:
        inverse = self.concentration_reciprocal
        return euler_constant * (1 - inverse) + ops.log(self.scale * inverse) + 1
