"""The categorical distribution (torch.distributions.categorical)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradd_engine.data import Size, dtypes

from .. import _top as ops
from .._surface import finfo
from . import constraints
from ._given import VectorGiven

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Categorical"]


class Categorical(VectorGiven):
    """An index into the last dimension of `probs` (normalized) or `logits`; draws are int64.

    Source: https://pytorch.org/docs/stable/distributions.html#categorical
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(self._take(probs, logits), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Any:
        return self._param.new_full(self._batch_shape, math.nan)

    @property
    def mode(self) -> Any:
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Any:
        return self.mean

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        rows = self.probs.detach().reshape(-1, self._num_events)
        drawn = ops.multinomial(rows, Size(sample_shape).numel(), True)
        return drawn.T.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        index, logits = ops.broadcast_tensors(value.to(dtypes.int64).unsqueeze(-1), self.logits)
        return logits.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        finite = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(finite * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        return self._counted(self._num_events, dtypes.int64, expand)
