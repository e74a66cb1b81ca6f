"""Sums and means of tensors of several sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


def combined(arrays: Sequence[np.ndarray[Any, Any]], mean: bool) -> np.ndarray[Any, Any]:
    """The sum of arrays of one shape and dtype, or their mean: a new array, or the only one itself.

    They are added in their order, in their dtype; those of 16-bit floats in float32, rounded once. Raises
    TypeError for a mean of integers, and where booleans would be added.
    """
    first = arrays[0]
    real = first.dtype.kind in "fcV"  # V: bfloat16
    if mean and not real:
        raise TypeError(f"there is no mean of {first.dtype.name}")
    if len(arrays) == 1:
        return first
    if first.dtype.kind == "b":
        raise TypeError("booleans have no sum")
    wide: Any = np.float32 if real and first.dtype.itemsize == 2 else first.dtype
    total = first.astype(wide)
    with np.errstate(all="ignore"):
        for array in arrays[1:]:
            np.add(total, array.astype(wide, copy=False), out=total)
        if mean:
            np.true_divide(total, len(arrays), out=total)
        return total.astype(first.dtype, copy=False)
