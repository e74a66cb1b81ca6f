"""The Poisson distribution (torch.distributions.poisson)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradd_engine.graph import no_grad

from .. import _top as ops
from . import constraints
from .exp_family import ExponentialFamily
from .utils import batch_size, broadcast_all

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """The number of events that happen at `rate` in a unit of time.

    Source: https://pytorch.org/docs/stable/distributions.html#poisson
    """

    arg_constraints: ClassVar[Any] = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(batch_size((rate,), self.rate), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.rate

    @property
    def mode(self) -> Any:
        return self.rate.floor()

    @property
    def variance(self) -> Any:
        return self.rate

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        with no_grad():
            return ops.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return ops.xlogy(value, rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (ops.log(self.rate),)

    def _log_normalizer(self, *natural_params: Any) -> Any:
        return ops.exp(natural_params[0])
