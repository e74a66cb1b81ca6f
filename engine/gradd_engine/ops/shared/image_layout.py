"""What ops on images share: layouts, numbers given once for all dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import contiguous_strides, dense_strides, is_contiguous
from ...schema import type_name

if TYPE_CHECKING:
    from collections.abc import Sequence


def is_channels_last(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether strides read as [N, H, W, C] in memory; where sizes of 1 leave it open, they do not."""
    if len(shape) != 4 or strides[1] == 0:
        return False
    least = 0
    for d in (1, 3, 2, 0):
        if shape[d] == 0 or strides[d] < least or (d == 0 and least == strides[1]):
            return False
        least = strides[d] * max(shape[d], 1)
    return True


def image_strides(shape: Sequence[int], *of: Any) -> tuple[int, ...]:
    """Strides of a result of `shape`: channels last where one of these tensors is so, else row-major."""
    last = any(is_channels_last(x.shape, x.strides) and not is_contiguous(x.shape, x.strides) for x in of)
    return dense_strides(shape, (1, 3, 2, 0)) if last and len(shape) == 4 else contiguous_strides(shape)


def kept_format(x: Any) -> Any:
    """The tensor where it is row-major or channels last, else a row-major copy."""
    return x if is_channels_last(x.shape, x.strides) else x.contiguous()


def each_dim(value: int | Sequence[int], dims: int) -> list[int]:
    """One number a dimension; a single one stands for all. Another count is left to the caller to refuse."""
    if isinstance(value, int):
        return [value] * dims
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"expected an int or a tuple of ints for {dims} dimensions, not {type_name(value)}")
    found = list(value)
    return found * dims if len(found) == 1 else found
