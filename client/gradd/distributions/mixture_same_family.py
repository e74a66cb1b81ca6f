"""The mixture of distributions of one family (torch.distributions.mixture_same_family)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradd_engine.data import Size
from gradd_engine.graph import no_grad

from .. import _top as ops
from . import constraints
from .categorical import Categorical
from .distribution import Distribution

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A mixture of the distributions along the last batch dimension of `component_distribution`.

    `mixture_distribution`, a Categorical, has their weights. ValueError for other classes and for shapes that
    do not fit.

    Source: https://pytorch.org/docs/stable/distributions.html#mixturesamefamily
    """

    arg_constraints: ClassVar[Any] = {}
    has_rsample = False

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        mixture, component = mixture_distribution, component_distribution
        if not isinstance(mixture, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of torch.distributions.Categorical"
            )
        if not isinstance(component, Distribution):
            raise ValueError(
                "The Component distribution needs to be an instance of torch.distributions.Distribution"
            )
        ours, theirs = mixture.batch_shape, component.batch_shape[:-1]
        if any(a != b and a != 1 and b != 1 for a, b in zip(reversed(ours), reversed(theirs), strict=False)):
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({ours}) is not "
                f"compatible with `component_distribution.batch_shape`({theirs})"
            )
        n, m = mixture.logits.shape[-1], component.batch_shape[-1]
        if n != m:
            raise ValueError(
                f"`mixture_distribution component` ({n}) does not"
                f" equal `component_distribution.batch_shape[-1]` ({m})"
            )
        self._mixture_distribution, self._component_distribution = mixture, component
        self._num_component, self._event_ndims = n, len(component.event_shape)
        super().__init__(theirs, component.event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new._component_distribution = self._component_distribution.expand((*batch_shape, self._num_component))
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        return new

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """The weights' distribution."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The components."""
        return self._component_distribution

    def _weighted(self, x: Any) -> Any:
        """The sum over the components of what each has, by their weights."""
        weights = self._mixture_distribution.probs
        missing = len(self._batch_shape) - len(self._mixture_distribution.batch_shape)
        if len(self._mixture_distribution.batch_shape) == 1:
            missing = 0
        ones = (1,) * self._event_ndims
        weights = weights.reshape((*weights.shape[:-1], *(1,) * missing, weights.shape[-1], *ones))
        return (weights * x).sum(-1 - self._event_ndims)

    @property
    def mean(self) -> Any:
        return self._weighted(self._component_distribution.mean)

    @property
    def variance(self) -> Any:
        parts = self._component_distribution
        return self._weighted(parts.variance) + self._weighted((parts.mean - self._pad(self.mean)).pow(2.0))

    def cdf(self, value: Any) -> Any:
        found = self._component_distribution.cdf(self._pad(value))
        return (found * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        found = self._component_distribution.log_prob(self._pad(value))
        return ops.logsumexp(found + ops.log_softmax(self._mixture_distribution.logits, -1), -1)

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        with no_grad():
            which = self._mixture_distribution.sample(sample_shape)
            drawn = self._component_distribution.sample(sample_shape)
            dim = len(sample_shape) + len(self._batch_shape)
            which = which.reshape((*which.shape, *(1,) * (self._event_ndims + 1)))
            which = which.expand(Size((*drawn.shape[:dim], 1, *self._event_shape)))
            return ops.gather(drawn, dim, which).squeeze(dim)

    def _pad(self, x: Any) -> Any:
        return x.unsqueeze(-1 - self._event_ndims)

    def _printed(self) -> list[Any]:
        parts = (*self._mixture_distribution._printed(), ",\n  ", *self._component_distribution._printed())
        return ["MixtureSameFamily(\n  ", *parts, ")"]
