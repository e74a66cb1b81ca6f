"""The geometric distribution (torch.distributions.geometric)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradd_engine.graph import no_grad

from .. import _top as ops
from .._surface import finfo
from . import constraints
from ._checks import demand
from ._given import BinaryGiven
from .utils import functional, standard_uniform

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Geometric"]


class Geometric(BinaryGiven):
    """The number of failures before the first success, whose probability is `probs`.

    Source: https://pytorch.org/docs/stable/distributions.html#geometric
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(self._take(probs, logits), validate_args=validate_args)
        if self._validate_args and probs is not None:
            value = self.probs
            told = f"Expected parameter probs ({type(value).__name__} of shape {tuple(value.shape)}) of "
            message = ["distribution ", *self._printed(), " to be positive but found invalid values:\n"]
            demand(value > 0, [told, *message], value)

    @property
    def mean(self) -> Any:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Any:
        return ops.zeros_like(self.probs)

    @property
    def variance(self) -> Any:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        with no_grad():
            u = standard_uniform(self.probs, self._extended_shape(sample_shape))
            u = u.clamp(min=finfo(self.probs.dtype).tiny)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        value, probs = ops.broadcast_tensors(value, self.probs)
        certain = (probs == 1) & (value == 0)
        return value * (-probs.masked_fill(certain, 0)).log1p() + self.probs.log()

    def entropy(self) -> Any:
        surprise = functional["binary_cross_entropy_with_logits"](self.logits, self.probs, reduction="none")
        return surprise / self.probs
