"""The Bernoulli distribution (torch.distributions.bernoulli)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradd_engine.graph import no_grad

from .. import _top as ops
from . import constraints
from ._given import BinaryGiven
from .exp_family import ExponentialFamily
from .utils import functional

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Bernoulli"]


class Bernoulli(BinaryGiven, ExponentialFamily):
    """1 with probability `probs` (or the sigmoid of `logits`), otherwise 0.

    Source: https://pytorch.org/docs/stable/distributions.html#bernoulli
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(self._take(probs, logits), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        return (self.probs >= 0.5).to(self.probs.dtype).masked_fill(self.probs == 0.5, math.nan)

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        with no_grad():
            return ops.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = ops.broadcast_tensors(self.logits, value)
        return -functional["binary_cross_entropy_with_logits"](logits, value, reduction="none")

    def entropy(self) -> Any:
        return functional["binary_cross_entropy_with_logits"](self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        return self._counted(2, self._param.dtype, expand)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (ops.logit(self.probs),)

    def _log_normalizer(self, *natural_params: Any) -> Any:
        return ops.log1p(ops.exp(natural_params[0]))
