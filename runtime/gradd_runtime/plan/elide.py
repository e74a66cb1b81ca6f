"""A pass over a trace: a copy out of memory that nobody looks at again takes that memory over instead.

This is how a first gradient comes to be a leaf's ``.grad``; an eager pass does the same where it holds the
only reference.
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
    """The code without needless copies, and for each block that lost its memory the block whose memory it
    takes.

    `outliving`: numbers of blocks that survive the program; they keep theirs.
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
