"""Distributions that hold a categorical one, and have its probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.data import Size

from .distribution import Distribution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .categorical import Categorical


class OfCategorical(Distribution):
    """A distribution over vectors, one number for each of a categorical's events."""

    _categorical: Categorical

    def _sizes(self) -> tuple[Size, Size]:
        """The batch and event shapes."""
        return self._categorical.batch_shape, self._categorical.param_shape[-1:]

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new._categorical = self._categorical.expand(batch_shape)
        return new

    @property
    def _param(self) -> Any:
        return self._categorical._param

    @property
    def param_shape(self) -> Size:
        """The shape of what was given."""
        return self._categorical.param_shape

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return self._categorical.logits
