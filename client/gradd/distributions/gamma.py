"""The gamma distribution (torch.distributions.gamma)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradd_engine.ops.create import standard_gamma

from .. import _top as ops
from .._surface import as_tensor, finfo
from . import constraints
from .exp_family import ExponentialFamily
from .utils import batch_size, broadcast_all, special

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """The gamma distribution with shape `concentration` and `rate`.

    Source: https://pytorch.org/docs/stable/distributions.html#gamma
    """

    arg_constraints: ClassVar[Any] = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(batch_size((concentration, rate), self.concentration), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.concentration / self.rate

    @property
    def mode(self) -> Any:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Any:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        drawn = standard_gamma(self.concentration.expand(self._extended_shape(sample_shape)))
        found = drawn / self.rate
        # Not 0, of which a logarithm is infinite; gradients are those of the draw.
        found.detach().clamp_(min=finfo(found.dtype).tiny)
        return found

    def log_prob(self, value: Any) -> Any:
        value = as_tensor(value, dtype=self.rate.dtype)
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        return ops.xlogy(a, self.rate) + ops.xlogy(a - 1, value) - self.rate * value - ops.lgamma(a)

    def cdf(self, value: Any) -> Any:
        if "gammainc" not in special:
            raise NotImplementedError("Gamma.cdf needs special.gammainc, which gradd does not have")
        if self._validate_args:
            self._validate_sample(value)
        return special["gammainc"](self.concentration, self.rate * value)

    def entropy(self) -> Any:
        a = self.concentration
        return a - ops.log(self.rate) + ops.lgamma(a) + (1.0 - a) * ops.digamma(a)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, *natural_params: Any) -> Any:
        x, y = natural_params
        return ops.lgamma(x + 1) + (x + 1) * ops.log(-y.reciprocal())
