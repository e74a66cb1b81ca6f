"""The continuous Bernoulli distribution (torch.distributions.continuous_bernoulli)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradd_engine.graph import no_grad

from .. import _top as ops
from . import constraints
from ._checks import demand
from ._given import BinaryGiven
from .exp_family import ExponentialFamily
from .utils import clamp_probs, functional, lazy_property, logits_to_probs, standard_uniform

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(BinaryGiven, ExponentialFamily):
    """A number in [0, 1] of density probs ** x * (1 - probs) ** (1 - x), normalized.

    Within `lims` Taylor series stand for quotients that would become 0 / 0.

    Source: https://pytorch.org/docs/stable/distributions.html#continuousbernoulli
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        shape = self._take(probs, logits)
        if probs is not None:
            if validate_args is not None:
                wanted = self.arg_constraints["probs"].check(self.probs)
                demand(wanted, ["The parameter probs has invalid values"], "")
            self.probs = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(shape, validate_args=validate_args)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities, away from 0 and 1."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _stable(self) -> tuple[Any, Any]:
        """Where the probabilities are outside of the limits, and the probabilities, at a limit elsewhere."""
        low, high = self._lims
        outside = (self.probs <= low) | (self.probs > high)
        return outside, ops.where(outside, self.probs, low)

    def _cont_bern_log_norm(self) -> Any:
        outside, p = self._stable()
        below, above = ops.where(p <= 0.5, p, 0.0), ops.where(p >= 0.5, p, 1.0)
        scale = ops.where(p <= 0.5, ops.log1p(-2.0 * below), ops.log(2.0 * above - 1.0))
        exact = ops.log((ops.log1p(-p) - ops.log(p)).abs()) - scale
        x = (self.probs - 0.5).pow(2)
        return ops.where(outside, exact, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self) -> Any:
        outside, p = self._stable()
        exact = p / (2.0 * p - 1.0) + 1.0 / (ops.log1p(-p) - ops.log(p))
        x = self.probs - 0.5
        return ops.where(outside, exact, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x)

    @property
    def variance(self) -> Any:
        outside, p = self._stable()
        exact = p * (p - 1.0) / (1.0 - 2.0 * p).pow(2) + (ops.log1p(-p) - ops.log(p)).pow(-2)
        x = (self.probs - 0.5).pow(2)
        return ops.where(outside, exact, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        return self.icdf(standard_uniform(self.probs, self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = ops.broadcast_tensors(self.logits, value)
        surprise = functional["binary_cross_entropy_with_logits"](logits, value, reduction="none")
        return self._cont_bern_log_norm() - surprise

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        outside, p = self._stable()
        exact = (ops.pow(p, value) * ops.pow(1.0 - p, 1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        found = ops.where(outside, exact, value)
        return ops.where(value <= 0.0, 0.0, ops.where(value >= 1.0, 1.0, found))

    def icdf(self, value: Any) -> Any:
        outside, p = self._stable()
        rest = ops.log1p(-p)
        exact = (ops.log1p(-p + value * (2.0 * p - 1.0)) - rest) / (ops.log(p) - rest)
        return ops.where(outside, exact, value)

    def entropy(self) -> Any:
        log0, log1 = ops.log1p(-self.probs), ops.log(self.probs)
        return self.mean * (log0 - log1) - self._cont_bern_log_norm() - log0

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.logits,)

    def _log_normalizer(self, *natural_params: Any) -> Any:
        (x,) = natural_params
        low, high = self._lims[0] - 0.5, self._lims[1] - 0.5
        outside = (x <= low) | (x > high)
        safe = ops.where(outside, x, low)
        exact = ops.log(ops.expm1(safe).abs()) - ops.log(safe.abs())
        return ops.where(outside, exact, 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0)
