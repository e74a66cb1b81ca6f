"""A pass over a trace: instead of copying from memory that is not used again, take it over.

A leaf's first gradient becomes its ``.grad`` this way; an eager pass does the same if it holds the only
reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradd_engine.tracing import Allocate, Block, Copy, Instruction, Place

from .blocks import touched

if TYPE_CHECKING:
    from collections.abc import Sequence


def elide_copies(
    code: Sequence[Instruction], outliving: set[int]
) -> tuple[list[Instruction], dict[int, Block]]:
    """The code without needless copies, and for each block without memory of its own the block whose memory
    it takes.

    `outliving`: numbers of blocks that outlive the program; they keep their memory.
    """
    fresh = {i.block.number for i in code if isinstance(i, Allocate)}
    last: dict[int, int] = {}
    for n, i in enumerate(code):
        for b in touched(i):
            last[b.number] = n
    same: dict[int, Block] = {}
    dropped: set[int] = set()
    for n, i in enumerate(code):
        if not isinstance(i, Copy):
            continue
        target, source = i.target.block, i.source.block
        if (
            target.number in fresh
            and source.source is None
            and source.of is None
            and source.number not in outliving
            and source.number not in same
            and last[source.number] == n
            and _is_whole(i.target)
            and _is_whole(i.source)
            and i.target.strides == i.source.strides
        ):
            same[target.number] = source
            dropped.add(n)
    kept = [
        i
        for n, i in enumerate(code)
        if n not in dropped and not (isinstance(i, Allocate) and i.block.number in same)
    ]
    return kept, same


def _is_whole(place: Place) -> bool:
    meta = place.block.meta
    return (
        place.offset == 0
        and place.shape == tuple(meta.shape)
        and place.strides == tuple(meta.strides)
        and place.dtype is meta.dtype
    )
