"""The exponential distribution (torch.distributions.exponential)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .. import _top as ops
from . import constraints
from .exp_family import ExponentialFamily
from .utils import batch_size, broadcast_all, standard_uniform

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Exponential"]


class Exponential(ExponentialFamily):
    """The time until an event that happens at `rate`.

    Source: https://pytorch.org/docs/stable/distributions.html#exponential
    """

    arg_constraints: ClassVar[Any] = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(batch_size((rate,), self.rate), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Any:
        return ops.zeros_like(self.rate)

    @property
    def stddev(self) -> Any:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Any:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        return self.icdf(standard_uniform(self.rate, self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return 1 - ops.exp(-self.rate * value)

    def icdf(self, value: Any) -> Any:
        return -ops.log1p(-value) / self.rate

    def entropy(self) -> Any:
        return 1.0 - ops.log(self.rate)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (-self.rate,)

    def _log_normalizer(self, *natural_params: Any) -> Any:
        return -ops.log(-natural_params[0])
