"""Distributions that are given probabilities or logits, and compute the other when it is asked for."""

from __future__ import annotations

from typing import Any

from gradd_engine.data import Size

from .. import _top as ops
from .distribution import Distribution
from .utils import batch_size, broadcast_all, lazy_property, logits_to_probs, probs_to_logits


class _Given(Distribution):
    """`probs` or `logits`; the other is computed once."""

    #: which was given: "probs" or "logits"
    _name: str

    @property
    def _param(self) -> Any:
        return getattr(self, self._name)

    @property
    def param_shape(self) -> Size:
        """The shape of what was given."""
        return self._param.size()  # type: ignore[no-any-return]

    def _one(self, probs: Any, logits: Any) -> Any:
        """The one that is given; ValueError unless it is just one."""
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        self._name = "logits" if probs is None else "probs"
        return logits if probs is None else probs

    def _counted(self, n: int, dtype: Any, expand: bool) -> Any:
        """The integers below n along a first dimension of their own."""
        values = ops.arange(n, dtype=dtype).view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values


class BinaryGiven(_Given):
    """Probabilities of one event, or its log odds."""

    def _take(self, probs: Any, logits: Any) -> Size:
        """Take what is given, a number or tensor; the batch shape."""
        given = self._one(probs, logits)
        (self.__dict__[self._name],) = broadcast_all(given)
        return batch_size((given,), self._param)

    @lazy_property
    def logits(self) -> Any:
        """The log odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits, is_binary=True)


class CountGiven(BinaryGiven):
    """Probabilities or log odds, and how often they are tried."""

    total_count: Any

    def _take_count(self, total_count: Any, probs: Any, logits: Any) -> Size:
        """Take what is given, all numbers or tensors; the batch shape."""
        given = self._one(probs, logits)
        count, self.__dict__[self._name] = broadcast_all(total_count, given)
        self.total_count = count if count.dtype is self._param.dtype else count.to(self._param.dtype)
        return Size(self._param.shape)


class VectorGiven(_Given):
    """Probabilities of events in the last dimension, or unnormalized log probabilities."""

    _num_events: int

    def _take(self, probs: Any, logits: Any) -> Size:
        """Take what is given, normalized; the batch shape. ValueError for a tensor without dimensions."""
        given = self._one(probs, logits)
        if given.ndim < 1:
            raise ValueError(f"`{self._name}` parameter must be at least one-dimensional.")
        total = given.logsumexp(-1, keepdim=True) if probs is None else given.sum(-1, keepdim=True)
        self.__dict__[self._name] = given - total if probs is None else given / total
        self._num_events = given.shape[-1]
        return Size(given.shape[:-1])

    @lazy_property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits)
