"""The index of `getitem` and `index_put_` in JSON (rest-by-hand rule 5)."""

import types
from typing import Any, TypeAlias

import msgspec

from .limits import DEFAULT

_INT_MIN, _INT_MAX = -(1 << 63), (1 << 63) - 1


class InputRef(msgspec.Struct, frozen=True):
    """A tensor in an index: the step's k-th input; 1 is the first after the indexed tensor."""

    k: int


IndexEntry: TypeAlias = int | slice | InputRef | types.EllipsisType | None


def decode_index(attr: Any, inputs: int) -> list[IndexEntry]:
    """`attrs.index` of `getitem` and `index_put_` as a Python index.

    `inputs`: number of the step's inputs, including the indexed tensor. ValueError says what is wrong.
    """
    if not isinstance(attr, list):
        raise ValueError("index is a list, one entry an axis")
    if len(attr) > 2 * DEFAULT.dims:
        raise ValueError(f"index has at most {2 * DEFAULT.dims} entries")
    index = [_entry(item, inputs) for item in attr]
    if sum(entry is ... for entry in index) > 1:
        raise ValueError('an index can only have a single ellipsis ("...")')
    return index


def _entry(item: Any, inputs: int) -> IndexEntry:
    if item is None or isinstance(item, bool):
        return item
    if isinstance(item, int):
        return _small(item)
    if item == "...":
        return ...
    match item:
        case {"slice": [start, stop, step], **rest} if not rest:
            return slice(_bound(start), _bound(stop), _bound(step))
        case {"input": int(k), **rest} if not rest and not isinstance(k, bool):
            if not 1 <= k < inputs:
                raise ValueError(
                    f"an index names input {k}: the step's inputs after the first are 1 to {inputs - 1}"
                )
            return InputRef(k)
    raise ValueError(
        'an entry of index is an int, a bool, null, "...", {"slice": [start, stop, step]} or {"input": k}'
    )


def _bound(item: Any) -> int | None:
    if item is not None and type(item) is not int:
        raise ValueError("start, stop and step of a slice are integers or null")
    return None if item is None else _small(item)


def _small(item: int) -> int:
    if not _INT_MIN <= item <= _INT_MAX:
        raise ValueError("an index does not fit int64")
    return item
