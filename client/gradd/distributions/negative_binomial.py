"""The negative binomial distribution (torch.distributions.negative_binomial)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradd_engine.graph import no_grad

from .. import _top as ops
from . import constraints
from ._given import CountGiven
from .gamma import Gamma
from .utils import functional

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NegativeBinomial"]


class NegativeBinomial(CountGiven):
    """The number of successes, each of probability `probs`, before `total_count` failures.

    Source: https://pytorch.org/docs/stable/distributions.html#negativebinomial
    """

    arg_constraints: ClassVar[Any] = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(self._take_count(total_count, probs, logits), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.total_count * ops.exp(self.logits)

    @property
    def mode(self) -> Any:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Any:
        return self.mean / ops.sigmoid(-self.logits)

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        with no_grad():
            # A count of 0 is allowed here.
            rate = Gamma(self.total_count, ops.exp(-self.logits), validate_args=False)
            return ops.poisson(rate.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        n, logsigmoid = self.total_count, functional["logsigmoid"]
        found = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        normalizer = -ops.lgamma(n + value) + ops.lgamma(1.0 + value) + ops.lgamma(n)
        # No successes before no failure are certain, where lgamma(0) is infinite.
        return found - normalizer.masked_fill(n + value == 0.0, 0.0)
