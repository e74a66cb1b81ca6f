"""Arrays concatenated and stacked on the device: one launch for as many as a structure by value holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import numel
from .launch import dense, empty, launch

if TYPE_CHECKING:
    from collections.abc import Sequence

#: what `joins.cu` calls these
MANY, CHUNK = 96, 4096
THREADS = 256
#: bytes that a thread copies at once, and the type that is called that long
_UNITS = {8: "q", 4: "i", 2: "h", 1: "B"}
_JOINED = np.dtype([
    ("at", np.uint64, MANY), ("length", np.int64, MANY), ("start", np.int64, MANY),
    ("chunk", np.int64, MANY + 1), ("out", np.uint64), ("outer", np.int64), ("row", np.int64),
])  # fmt: skip


def _join(xp: Any, arrays: Sequence[Any], out: Any, outer: int) -> None:
    """Copy arrays beside each other, each as runs: as many as `outer` says."""
    given = [dense(xp, a) for a in arrays if a.size]
    ends = np.cumsum([0, *(a.nbytes // outer for a in given)]).tolist()
    unit = max(
        u for u in _UNITS if all(n % u == 0 for n in (*ends, out.data.ptr, *(a.data.ptr for a in given)))
    )
    for first in range(0, len(given), MANY):
        some, made, chunks = given[first : first + MANY], np.zeros(1, _JOINED), 0
        for i, a in enumerate(some):
            made["at"][0, i], made["start"][0, i] = a.data.ptr, ends[first + i] // unit
            made["length"][0, i] = a.nbytes // outer // unit
            chunks += -(-a.nbytes // unit // CHUNK)
            made["chunk"][0, i + 1 :] = chunks
        made["out"], made["outer"], made["row"] = out.data.ptr, outer, ends[-1] // unit
        launch(xp, "join", _UNITS[unit], (chunks,), THREADS, made)


def _of_one_dtype(arrays: Sequence[Any]) -> bool:
    return all(a.dtype == arrays[0].dtype for a in arrays)


def _cat(plain: Any) -> Any:
    def kernel(xp: Any, tensors: Sequence[Any], dim: int) -> Any:
        # one of shape [0] goes with any others
        parts = [a for a in tensors if a.shape != (0,)]
        if not parts or not _of_one_dtype(parts):
            return plain(xp, tensors, dim)
        first, d = parts[0].shape, dim % parts[0].ndim
        shape = (*first[:d], sum(a.shape[d] for a in parts), *first[d + 1 :])
        out = empty(xp, shape, parts[0].dtype)
        _join(xp, parts, out, numel(first[:d]))
        return out

    return kernel


def _stack(plain: Any) -> Any:
    def kernel(xp: Any, tensors: Sequence[Any], dim: int) -> Any:
        if not _of_one_dtype(tensors):
            return plain(xp, tensors, dim)
        first = tensors[0].shape
        d = dim % (len(first) + 1)
        out = empty(xp, (*first[:d], len(tensors), *first[d:]), tensors[0].dtype)
        _join(xp, tensors, out, numel(first[:d]))
        return out

    return kernel


NATIVE = {"cat": _cat, "stack": _stack}
