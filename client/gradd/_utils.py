"""What libraries take from torch._utils: tensors made one vector, and taken from it again."""

from __future__ import annotations

from collections.abc import Sequence

from ._tensor import Tensor
from ._top import cat

__all__: list[str] = []


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """The elements of all `tensors` as one vector, a copy."""
    return cat([tensor.reshape(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of the vector `flat` in the shapes of `tensors`."""
    found, at = [], 0
    for tensor in tensors:
        found.append(flat.narrow(0, at, tensor.numel()).view(tensor.shape))
        at += tensor.numel()
    return tuple(found)
