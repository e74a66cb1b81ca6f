"""Euclidean norms of whole arrays on the device: what clipping takes of every gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .launch import LONG, dense, empty, launch, sum_threads
from .packs import MANY, pack
from .sources import REALS

if TYPE_CHECKING:
    from collections.abc import Sequence

#: blocks that share a large array
BLOCKS = 256


def _norm(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
        over = (
            None if dim is None else {d % a.ndim for d in ([dim] if isinstance(dim, int) else dim) if a.ndim}
        )
        whole = over is None or not over or len(over) == a.ndim
        if ord != 2 or not whole or a.dtype.char not in REALS or not a.size:
            return plain(xp, a, ord, dim, keepdim, dtype)
        out, types, n = empty(xp, (1,) * a.ndim if keepdim else (), a.dtype), a.dtype.char, a.size
        if n <= LONG:
            launch(xp, "square_sums", types, (1,), sum_threads(n), dense(xp, a), out, n)
            return out
        blocks = min(BLOCKS, -(-n // LONG))
        parts = empty(xp, (blocks,), a.dtype)
        launch(xp, "square_sums", types, (blocks,), 256, dense(xp, a), parts, n)
        launch(xp, "root_of_sums", types, (1,), 256, parts, out, blocks)
        return out

    return kernel


class PackedNorms:
    """The norms of many arrays, dense and of one dtype, into a vector: the last of what it is called with."""

    keys = 0
    #: the op whose results are stacked
    of = "vector_norm"

    def __init__(self, kind: str) -> None:
        self._types = kind

    def __call__(self, xp: Any, arrays: Sequence[Any], keys: Sequence[Any] = ()) -> None:
        """Start two launches for each MANY arrays."""
        *those, out = arrays
        for first in range(0, len(those), MANY):
            some = those[first : first + MANY]
            packed = pack([[a] for a in some])
            chunks = int(packed["chunk"][0, -1])
            parts = empty(xp, (chunks,), out.dtype)
            if chunks:
                launch(xp, "chunk_squares", self._types, (chunks,), 256, packed, parts)
            launch(xp, "roots_of_chunks", self._types, (len(some),), 128, packed, parts, out, first)


#: ops that stack norms -> what computes them all
STACKED = {"stack": PackedNorms}

NATIVE = {"vector_norm": _norm}
