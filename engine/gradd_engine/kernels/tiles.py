"""Long formulas over large arrays in tiles that stay in the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: elements per tile
TILE = 1 << 15


def tiles(xp: Any, arrays: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Tiles of arrays of one size if they are large, row-major and in host memory; otherwise the arrays.

    0-d arrays become 1-d, as NumPy would turn results into scalars, which cannot be written to.
    """
    first = arrays[0]
    if not first.ndim:
        yield [a.reshape(1) for a in arrays]
        return
    if xp is not np or first.size <= TILE or not all(a.flags.c_contiguous for a in arrays):
        yield arrays
        return
    flat = [a.reshape(-1) for a in arrays]
    for at in range(0, first.size, TILE):
        yield [a[at : at + TILE] for a in flat]


def tiled(xp: Any, formula: Callable[..., Any], first: Any, *others: Any) -> Any:
    """`formula` of arrays, element-wise: an array with the shape and dtype of the first."""
    if not first.ndim:
        return formula(xp, *(a.reshape(1) for a in (first, *others))).reshape(())
    arrays = (first, *others)
    if first.size <= TILE or any(a.shape != first.shape for a in others):
        return formula(xp, *arrays)
    out = xp.empty_like(first)
    for *given, piece in tiles(xp, (*arrays, out)):
        piece[...] = formula(xp, *given)
    return out
