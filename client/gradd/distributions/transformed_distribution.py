"""The distribution of a transformed value (torch.distributions.transformed_distribution)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradd_engine.data import Size
from gradd_engine.graph import no_grad

from . import constraints
from ._transform import ComposeTransform, Transform
from .distribution import Distribution
from .independent import Independent
from .utils import _sum_rightmost

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """What `transforms`, one or a list, make of draws from `base_distribution`. ValueError for anything else,
    and for a base with fewer dimensions than they need.

    Source: https://pytorch.org/docs/stable/distributions.html#transformeddistribution
    """

    arg_constraints: ClassVar[Any] = {}

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None) -> None:
        if isinstance(transforms, Transform):
            transforms = [transforms]
        elif not isinstance(transforms, list):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        elif not all(isinstance(t, Transform) for t in transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        self.transforms = transforms
        base = base_distribution
        shape, event = base.batch_shape + base.event_shape, len(base.event_shape)
        whole = ComposeTransform(transforms)
        into, out = whole.domain.event_dim, whole.codomain.event_dim
        if len(shape) < into:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {into}, but got {shape}."
            )
        forward = Size(whole.forward_shape(shape))
        wanted = Size(whole.inverse_shape(forward))
        if shape != wanted:
            base = base.expand(wanted[: len(wanted) - event])
        if into > event:
            base = Independent(base, into - event)
        self.base_dist = base
        # The transforms' events, or the base's as the transforms change them.
        cut = len(forward) - max(out, event + out - into)
        super().__init__(forward[:cut], forward[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        shape = Size(batch_shape) + self.event_shape
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        return new

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        last = self.transforms[-1].codomain
        more = len(self.event_shape) - last.event_dim
        return constraints.independent(last, more) if more > 0 else last

    @property
    def has_rsample(self) -> Any:
        return self.base_dist.has_rsample

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        with no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        return self._forward(self.base_dist.rsample(sample_shape))

    def _forward(self, x: Any) -> Any:
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        event_dim, found, y = len(self.event_shape), 0.0, value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            change = transform.log_abs_det_jacobian(x, y)
            found = found - _sum_rightmost(change, event_dim - transform.domain.event_dim)
            y = x
        return found + _sum_rightmost(self.base_dist.log_prob(y), event_dim - len(self.base_dist.event_shape))

    def _monotonized(self, value: Any) -> Any:
        """A probability as it is where the transforms rise, from the other end where they fall."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value: Any) -> Any:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonized(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Any:
        return self._forward(self.base_dist.icdf(self._monotonized(value)))
