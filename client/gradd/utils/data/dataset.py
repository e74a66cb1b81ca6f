"""Datasets, as torch.utils.data.dataset (https://pytorch.org/docs/stable/data.html).

Those that hold tensors also gather a batch at once: one indexing op for each tensor, where samples one by one
would take a `select` each, and a `stack`.
"""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from gradd_engine.data import dtypes

from ..._surface import DRAWING, namespace
from ..._tensor import Tensor

if TYPE_CHECKING:
    from ..._surface import Generator

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
_TOP = namespace("")


class Dataset(Generic[T_co]):
    """What has a sample for each key, most often 0 to ``len(dataset) - 1`` (torch.utils.data.Dataset)."""

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Any]) -> Dataset[Any]:
        return ConcatDataset([self, other])

    @property
    def _gathers(self) -> bool:
        """Whether a batch can be made at once."""
        return False

    def _gather(self, indices: Any) -> Any:
        """What `default_collate` makes of the samples at `indices` (integers, or a tensor of them), made at
        once; None for indices with which that does not work.
        """
        return None


def gathers(dataset: Any) -> bool:
    """Whether `gathered` may give the dataset's batches."""
    return isinstance(dataset, Dataset) and dataset._gathers


def gathered(dataset: Any, indices: Any) -> Any:
    """A dataset's samples at `indices`, collated in fewer ops than one by one; None if that is no dataset
    that can.
    """
    return dataset._gather(indices) if gathers(dataset) else None


class IterableDataset(Dataset[T_co], ABC):
    """What has samples one after the other (torch.utils.data.IterableDataset)."""

    @abstractmethod
    def __iter__(self) -> Iterator[T_co]: ...

    def __add__(self, other: Dataset[Any]) -> Dataset[Any]:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """The rows of tensors (torch.utils.data.TensorDataset). AssertionError if they are not equally many."""

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensors[0].size(0) != t.size(0) for t in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].size(0))

    @property
    def _gathers(self) -> bool:
        own = type(self).__getitem__ is TensorDataset.__getitem__
        return own and all(isinstance(t, Tensor) for t in self.tensors)

    def _gather(self, indices: Any) -> Any:
        rows = _rows(indices, len(self), self.tensors[0])
        return None if rows is None else [t[rows] for t in self.tensors]


def _rows(indices: Any, count: int, beside: Tensor) -> Tensor | None:
    """The indices as a tensor of the session of `beside`; None for what is not all integers in range, since
    a sample asked for by itself says what is wrong.
    """
    if isinstance(indices, Tensor):
        return indices
    if any(isinstance(i, Tensor) for i in indices):
        whole = all(isinstance(i, Tensor) and not i.shape and i.dtype is dtypes.int64 for i in indices)
        return _TOP["stack"](list(indices)) if whole else None
    if not all(isinstance(i, (int, np.integer)) and -count <= i < count for i in indices):
        return None
    backend: Any = beside.backend
    found: Tensor = backend.leaf(np.array(indices, np.int64), dtypes.int64, False)
    return found


class StackDataset(Dataset[Any]):
    """Samples of several datasets side by side, as a tuple or by name (torch.utils.data.StackDataset).

    ValueError for none, for both kinds, and if they are not equally long.
    """

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, "
                "but both types are given."
            )
        if not (args or kwargs):
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        self._length = len(self._parts[0])
        if any(len(part) != self._length for part in self._parts):
            raise ValueError("Size mismatch between datasets")

    @property
    def _parts(self) -> list[Any]:
        return list(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)

    def _like(self, values: Iterable[Any]) -> Any:
        found = tuple(values)
        return dict(zip(self.datasets, found, strict=True)) if isinstance(self.datasets, dict) else found

    def __getitem__(self, index: Any) -> Any:
        return self._like(part[index] for part in self._parts)

    def __getitems__(self, indices: Sequence[Any]) -> list[Any]:
        columns = [_samples(part, indices) for part in self._parts]
        if any(len(column) != len(indices) for column in columns):
            raise ValueError("Nested dataset's output size mismatch.")
        return [self._like(row) for row in zip(*columns, strict=True)]

    def __len__(self) -> int:
        return self._length

    @property
    def _gathers(self) -> bool:
        return type(self).__getitem__ is StackDataset.__getitem__ and all(map(gathers, self._parts))

    def _gather(self, indices: Any) -> Any:
        found = []
        for part in self._parts:
            batch = gathered(part, indices)
            if batch is None:
                return None
            found.append(batch)
        return dict(zip(self.datasets, found, strict=True)) if isinstance(self.datasets, dict) else found


def _samples(dataset: Any, indices: Sequence[Any]) -> Sequence[Any]:
    """A dataset's samples, by its `__getitems__` if it has one."""
    several = getattr(dataset, "__getitems__", None)
    found: Sequence[Any] = several(indices) if callable(several) else [dataset[i] for i in indices]
    return found


class ConcatDataset(Dataset[T_co]):
    """Datasets one after the other (torch.utils.data.ConcatDataset). AssertionError for none, or for one that
    has no keys.
    """

    datasets: list[Dataset[T_co]]
    #: where each of them ends
    cumulative_sizes: list[int]

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Where each of the datasets ends."""
        return list(itertools.accumulate(len(each) for each in sequence))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def _place(self, index: Any) -> tuple[int, Any]:
        """Which dataset has the sample, and where."""
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, index)
        return which, index - (self.cumulative_sizes[which - 1] if which else 0)

    def __getitem__(self, index: Any) -> T_co:
        which, at = self._place(index)
        return self.datasets[which][at]

    @property
    def _gathers(self) -> bool:
        return type(self).__getitem__ is ConcatDataset.__getitem__ and all(map(gathers, self.datasets))

    def _gather(self, indices: Any) -> Any:
        if isinstance(indices, Tensor) or any(
            isinstance(i, Tensor) or not -len(self) <= i < len(self) for i in indices
        ):
            return None
        places = [self._place(i) for i in indices]
        which = sorted({w for w, _ in places})
        parts = [gathered(self.datasets[w], [at for v, at in places if v == w]) for w in which]
        if len(parts) == 1:
            return parts[0]
        if any(type(part) is not list or not all(isinstance(t, Tensor) for t in part) for part in parts):
            return None
        # stacking would refuse rows that differ, where concatenating them may not
        rows = {tuple((t.shape[1:], t.dtype) for t in part) for part in parts}
        if len(rows) != 1:
            return None
        order = np.argsort([k for w in which for k, (v, _) in enumerate(places) if v == w])
        back = _rows(order, len(places), parts[0][0])
        return [_TOP["cat"](list(column))[back] for column in zip(*parts, strict=True)]

    @property
    def cummulative_sizes(self) -> list[int]:
        """The old name of `cumulative_sizes`."""
        warnings.warn(
            "`cummulative_sizes` attribute is renamed to `cumulative_sizes`", FutureWarning, stacklevel=2
        )
        return self.cumulative_sizes


class ChainDataset(IterableDataset[Any]):
    """Iterable datasets one after the other (torch.utils.data.ChainDataset)."""

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = datasets

    def _checked(self) -> Iterator[Any]:
        for each in self.datasets:
            if not isinstance(each, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield each

    def __iter__(self) -> Iterator[Any]:
        for each in self._checked():
            yield from each

    def __len__(self) -> int:
        return sum(len(each) for each in self._checked())


class Subset(Dataset[T_co]):
    """The samples of a dataset at `indices` (torch.utils.data.Subset)."""

    dataset: Dataset[T_co]
    indices: Sequence[int]

    def __init__(self, dataset: Dataset[T_co], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> T_co:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: Sequence[int]) -> Sequence[T_co]:
        return _samples(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def _gathers(self) -> bool:
        own = (type(self).__getitem__, type(self).__getitems__)
        return own == (Subset.__getitem__, Subset.__getitems__) and gathers(self.dataset)

    def _gather(self, indices: Any) -> Any:
        if isinstance(self.indices, Tensor):
            rows = _rows(indices, len(self), self.indices)
            return None if rows is None else gathered(self.dataset, self.indices[rows])
        if isinstance(indices, Tensor) or any(isinstance(i, Tensor) for i in indices):
            return None
        return gathered(self.dataset, [self.indices[i] for i in indices])


def random_split(
    dataset: Dataset[T], lengths: Sequence[int | float], generator: Generator | None = None
) -> list[Subset[T]]:
    """Parts of a dataset, drawn at random (torch.utils.data.random_split). `lengths`: how many samples each
    has, or fractions whose sum is 1. ValueError if they are not those of the dataset.
    """
    count: int = len(dataset)  # type: ignore[arg-type]
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _shares(count, lengths)
    if sum(lengths) != count:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = DRAWING["randperm"](count, generator=generator).tolist()
    ends = itertools.accumulate(int(n) for n in lengths)
    return [Subset(dataset, order[end - int(n) : end]) for n, end in zip(lengths, ends, strict=True)]


def _shares(count: int, fractions: Sequence[float]) -> list[int]:
    """How many of `count` samples each fraction is; the first ones get those that rounding left."""
    for i, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    shares = [math.floor(count * fraction) for fraction in fractions]
    for i in range(count - sum(shares)):
        shares[i % len(shares)] += 1
    for i, share in enumerate(shares):
        if not share:
            warnings.warn(
                f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=3
            )
    return shares
