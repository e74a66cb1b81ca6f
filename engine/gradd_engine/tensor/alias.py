"""Other tensors of the same memory: without history, or with the tangents of the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..data import VersionCounter
    from .tensor import Tensor


def detached(t: Tensor, version: VersionCounter | None = None) -> Tensor:
    """An alias of `t`'s memory without history; shares the version counter unless another is given."""
    out = t.backend.made(
        t.backend,
        t.storage,
        t._shape,
        t.strides,
        t.offset,
        t._dtype,
        t.array,
        t._vc if version is None else version,
    )
    if t._conj:
        out._conj = True
    return out


def carry(source: Tensor, alias: Tensor) -> Tensor:
    """`alias`, another tensor of the same values, with the tangents of `source`."""
    if source._tangents:
        for level, t in source._tangents.items():
            level.give(alias, t)
    return alias
