"""Samples to batches: `default_collate` and `default_convert`, as torch.utils.data._utils.collate.

Arrays and numbers are put together here, so that a batch of them is one upload.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np
from gradd_engine.data import dtypes

from ...._surface import as_tensor, from_numpy, namespace, tensor
from ...._tensor import Tensor

_REFUSED = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
_stack = namespace("")["stack"]
_TEXT = re.compile(r"[SaUO]")
#: how samples of a class are put together: called with the samples, and the whole table by keyword
Table = dict[Any, Callable[..., Any]]


def collate(batch: Any, *, collate_fn_map: Table | None = None) -> Any:
    """A batch of samples, by a table of classes (or tuples of them) and functions. Mappings, named tuples and
    sequences are put together element by element. TypeError for a class that is not in the table,
    RuntimeError for sequences that are not equally long.
    """
    first = batch[0]
    together = _entry(collate_fn_map or {}, first)
    if together is not None:
        return together(batch, collate_fn_map=collate_fn_map)

    def each(samples: Any) -> Any:
        return collate(samples, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        found = {key: each([sample[key] for sample in batch]) for key in first}
        return _like_mapping(first, found)
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(each(samples) for samples in zip(*batch, strict=False)))
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [each(samples) for samples in zip(*batch, strict=True)]
        return columns if isinstance(first, tuple) else _like_sequence(first, columns)
    raise TypeError(_REFUSED.format(type(first)))


def _entry(table: Table, first: Any) -> Callable[..., Any] | None:
    """The function for the class of a sample: its own, else the first one of a class above it."""
    own = table.get(type(first))
    return own or next((function for kind, function in table.items() if isinstance(first, kind)), None)


def _like_mapping(one: Any, found: dict[Any, Any]) -> Any:
    """A mapping of the class of `one`, if it can be made."""
    try:
        if isinstance(one, MutableMapping):
            out = copy.copy(one)
            out.update(found)
            return out
        return type(one)(found)
    except TypeError:
        return found


def _like_sequence(one: Any, found: list[Any]) -> Any:
    """A sequence of the class of `one`, if it can be made."""
    try:
        if isinstance(one, MutableSequence):
            out = copy.copy(one)
            for i, value in enumerate(found):
                out[i] = value
            return out
        return type(one)(found)
    except TypeError:
        return found


def stacked(batch: Sequence[Any]) -> np.ndarray[Any, Any] | None:
    """Arrays as one, or None if their shapes or dtypes differ. TypeError for text."""
    first = batch[0]
    if _TEXT.search(first.dtype.str) is not None:
        raise TypeError(_REFUSED.format(first.dtype))
    alike = all(
        isinstance(a, np.ndarray) and a.shape == first.shape and a.dtype == first.dtype for a in batch
    )
    return np.stack(batch) if alike else None


def _tensors(batch: Any, *, collate_fn_map: Table | None = None) -> Any:
    return _stack(list(batch))


def _arrays(batch: Any, *, collate_fn_map: Table | None = None) -> Any:
    whole = stacked(batch)
    return _tensors([as_tensor(a) for a in batch]) if whole is None else from_numpy(whole)


def _scalars(batch: Any, *, collate_fn_map: Table | None = None) -> Any:
    return from_numpy(np.array(batch))


def _floats(batch: Any, *, collate_fn_map: Table | None = None) -> Any:
    return tensor(list(batch), dtype=dtypes.float64)


def _integers(batch: Any, *, collate_fn_map: Table | None = None) -> Any:
    return tensor(list(batch))


def _texts(batch: Any, *, collate_fn_map: Table | None = None) -> Any:
    return batch


default_collate_fn_map: Table = {
    Tensor: _tensors,
    np.ndarray: _arrays,
    (np.bool_, np.number): _scalars,
    float: _floats,
    int: _integers,
    str: _texts,
    bytes: _texts,
}


def default_collate(batch: Any) -> Any:
    """A batch of samples, with a first dimension for them: tensors are stacked; arrays and numbers become
    tensors; text stays as it is; mappings and sequences are put together element by element
    (torch.utils.data.default_collate).
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def default_convert(data: Any) -> Any:
    """Data whose arrays are tensors (torch.utils.data.default_convert)."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (np.ndarray, np.bool_, np.number)):
        text = isinstance(data, np.ndarray) and _TEXT.search(data.dtype.str) is not None
        return data if text else from_numpy(np.asarray(data))
    if isinstance(data, Mapping):
        return _like_mapping(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, tuple):
        return [default_convert(value) for value in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _like_sequence(data, [default_convert(value) for value in data])
    return data
