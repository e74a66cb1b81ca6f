"""The multinomial distribution (torch.distributions.multinomial)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradd_engine.data import Size

from .. import _top as ops
from . import constraints
from ._of_categorical import OfCategorical
from .binomial import Binomial
from .categorical import Categorical
from .utils import broadcast_all

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Multinomial"]


class Multinomial(OfCategorical):
    """How often each event happens in `total_count` (an int) draws from a categorical distribution.
    NotImplementedError for a tensor of counts.

    Source: https://pytorch.org/docs/stable/distributions.html#multinomial
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(
        self,
        total_count: int = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        super().__init__(*self._sizes(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Any:
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        drawn = self._categorical.sample(Size((self.total_count, *sample_shape))).movedim(0, -1)
        counts = drawn.new_zeros(self._extended_shape(sample_shape))
        return counts.scatter_add(-1, drawn, ops.ones_like(drawn)).to(self.probs.dtype)

    def entropy(self) -> Any:
        n = self.total_count
        each = Binomial(n, probs=self.probs, validate_args=False)
        counts = each.enumerate_support(expand=False)[1:]
        expected = (ops.exp(each.log_prob(counts)) * ops.lgamma(counts + 1)).sum((0, -1))
        return n * self._categorical.entropy() - math.lgamma(n + 1) + expected

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        impossible = (value == 0) & (logits == -math.inf)
        powers = (logits.masked_fill(impossible, 0) * value).sum(-1)
        return ops.lgamma(value.sum(-1) + 1) - ops.lgamma(value + 1).sum(-1) + powers
