"""Arrays of many tensors in one structure, which a launch gets by value."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from .launch import kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: what `pack.cuh` calls these
MANY, ROWS, CHUNK = 48, 6, 4096
_PACK = np.dtype([("at", np.uint64, (ROWS, MANY)), ("size", np.int64, MANY), ("chunk", np.int64, MANY + 1)])


def pack(columns: Sequence[Sequence[Any]]) -> Any:
    """A structure of the arrays' addresses, one column a parameter."""
    made = np.zeros(1, _PACK)
    at, size, chunk = (made[name][0] for name in ("at", "size", "chunk"))
    for i, column in enumerate(columns):
        for row, a in enumerate(column):
            if a is not None:
                at[row, i] = a.data.ptr
        size[i] = column[0].size
        chunk[i + 1] = chunk[i] + -(-column[0].size // CHUNK)
    chunk[len(columns) + 1 :] = chunk[len(columns)]
    return made


def groups(columns: Sequence[Sequence[Any]], typed: int) -> Iterator[tuple[str, Sequence[Sequence[Any]]]]:
    """Columns whose first `typed` arrays have the same types, as many as a launch takes."""
    by_types = defaultdict(list)
    for column in columns:
        by_types["".join(kind(a) for a in column[:typed])].append(column)
    for types, those in by_types.items():
        for first in range(0, len(those), MANY):
            yield types, those[first : first + MANY]


def distinct(arrays: Iterable[Any]) -> bool:
    """Whether no array is written twice: each step sees what the one before it wrote."""
    seen = [a.data.ptr for a in arrays if a is not None and a.size]
    return len(set(seen)) == len(seen)
