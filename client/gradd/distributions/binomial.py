"""The binomial distribution (torch.distributions.binomial)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradd_engine.graph import no_grad

from .. import _top as ops
from . import constraints
from ._checks import known_number
from ._given import CountGiven

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Binomial"]


class Binomial(CountGiven):
    """The number of successes in `total_count` trials, each with probability `probs`.

    Source: https://pytorch.org/docs/stable/distributions.html#binomial
    """

    arg_constraints: ClassVar[Any] = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(self._take_count(total_count, probs, logits), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        return ops.minimum(((self.total_count + 1) * self.probs).floor(), self.total_count)

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return ops.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        n, logits = self.total_count, self.logits
        # max(logits, 0), with a derivative of 1/2 at 0
        positive = (logits.clamp(min=0) + logits - logits.clamp(max=0)) / 2
        normalizer = n * positive + n * ops.log1p(ops.exp(-logits.abs())) - ops.lgamma(n + 1)
        return value * logits - ops.lgamma(value + 1) - ops.lgamma(n - value + 1) - normalizer

    def _same_count(self, what: str) -> int:
        """The count that all have, which is asked for unless it was given as a number. NotImplementedError if
        they differ.
        """
        known = known_number(self.total_count)
        if known is not None:
            return int(known)
        least, most = self.total_count.aminmax()
        most = int(most)
        if int(least) != most:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{what}`.")
        return most

    def entropy(self) -> Any:
        self._same_count("entropy")
        found = self.log_prob(self.enumerate_support(False))
        return -(ops.exp(found) * found).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        return self._counted(1 + self._same_count("enumerate_support"), self._param.dtype, expand)
