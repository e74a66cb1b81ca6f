"""A loader's next data, in whichever process: samples asked of the dataset, and put together."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from ..dataset import IterableDataset, gathered
from .collate import default_collate


class Exhausted(Exception):
    """An iterable dataset has no more samples."""


class Fetcher:
    """Fetches from a dataset what `keys` of a sampler ask for: a list of them if `batched`, else one.

    Of an iterable dataset, as many samples as there are keys; `drop_last`: the last ones only if they are.
    """

    def __init__(
        self, dataset: Any, batched: bool, collate_fn: Callable[[Any], Any], drop_last: bool
    ) -> None:
        self._dataset = dataset
        self._batched = batched
        self._collate = collate_fn
        self._drop_last = drop_last
        self._samples: Iterator[Any] | None = iter(dataset) if isinstance(dataset, IterableDataset) else None

    def fetch(self, keys: Any) -> Any:
        """The data for what a sampler gave; raises Exhausted."""
        if self._samples is not None:
            return self._collate(self._next(self._samples, keys))
        if not self._batched:
            return self._collate(self._dataset[keys])
        if self._collate is default_collate:
            batch = gathered(self._dataset, keys)
            if batch is not None:
                return batch
        several = getattr(self._dataset, "__getitems__", None)
        return self._collate(several(keys) if several else [self._dataset[key] for key in keys])

    def _next(self, samples: Iterator[Any], keys: Any) -> Any:
        count = len(keys) if self._batched else 1
        found = list(itertools.islice(samples, count))
        if not found or (len(found) < count and self._drop_last):
            raise Exhausted
        return found if self._batched else found[0]
