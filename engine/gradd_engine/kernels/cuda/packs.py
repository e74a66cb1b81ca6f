"""Arrays of many tensors in one structure, which a launch gets by value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

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
