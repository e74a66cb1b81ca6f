"""The categorical distribution over one-hot vectors (torch.distributions.one_hot_categorical)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .. import _top as ops
from . import constraints
from ._of_categorical import OfCategorical
from .categorical import Categorical
from .utils import functional

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(OfCategorical):
    """One-hot vectors of `Categorical`'s draws, in the dtype of `probs`.

    Source: https://pytorch.org/docs/stable/distributions.html#onehotcategorical
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        super().__init__(*self._sizes(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        return self._one_hot(self.probs.argmax(dim=-1))

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def _one_hot(self, index: Any) -> Any:
        return functional["one_hot"](index, self._categorical._num_events).to(self.probs.dtype)

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        return self._one_hot(self._categorical.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Any:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        n = self._event_shape[0]
        values = ops.eye(n, dtype=self._param.dtype).view((n, *(1,) * len(self._batch_shape), n))
        return values.expand((n, *self._batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """`OneHotCategorical` whose `rsample` passes gradients to the probabilities as if it returned these.

    Source: https://arxiv.org/abs/1308.3432
    """

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        drawn = self.sample(sample_shape)
        return drawn + (self.probs - self.probs.detach())
