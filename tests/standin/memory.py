"""The device's memory: pointers into blocks, and views that must stay inside of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class MemoryPointer:
    """A place in a block, in bytes from its start."""

    def __init__(self, block: Any, offset: int) -> None:
        self.block = block
        self.offset = offset

    def __add__(self, bytes_: int) -> MemoryPointer:
        return MemoryPointer(self.block, self.offset + int(bytes_))

    @property
    def ptr(self) -> int:
        """The address."""
        return _address(self.block) + self.offset


def _address(a: Any) -> int:
    return int(a.__array_interface__["data"][0])


def pointer(a: Any) -> MemoryPointer:
    """Where a NumPy array begins in the block that it lies in."""
    owner = a
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    # an array that owns its memory fills it, in whatever order
    order = sorted(range(owner.ndim), key=lambda i: (-owner.strides[i], -owner.shape[i]))
    block = owner.transpose(order).reshape(-1).view(np.uint8)
    return MemoryPointer(block, _address(a) - _address(owner))


def placed(at: MemoryPointer, shape: Sequence[int], dtype: Any, strides: Sequence[int]) -> Any:
    """An array of that geometry, strides in bytes; AssertionError if it reaches out of its block.

    CuPy does not look: such an array reads what another session has there.
    """
    dtype = np.dtype(dtype)
    if 0 in shape:
        return np.empty(shape, dtype)
    ends = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    low = at.offset + sum(e for e in ends if e < 0)
    high = at.offset + sum(e for e in ends if e > 0) + dtype.itemsize
    where = (
        f"a view of shape {tuple(shape)}, strides {tuple(strides)} and dtype {dtype} at byte {at.offset} "
        f"reaches bytes {low} to {high} of a block of {at.block.nbytes}"
    )
    assert low >= 0, where
    assert high <= at.block.nbytes, where
    return np.ndarray(tuple(shape), dtype, at.block, at.offset, tuple(strides))
