"""Which memory a trace's instructions use and change, and which of them cannot raise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gradd_engine.tracing import Allocate, Block, Copy, Instruction, KernelCall, Place, Upload, Window, root

if TYPE_CHECKING:
    from collections.abc import Iterator


class FusedCall(NamedTuple):
    """Several instructions as one launch of a device."""

    calls: tuple[KernelCall | Copy, ...]
    kernel: Any
    #: what it is given: places, and run-time numbers as (value, dtype's character)
    arrays: tuple[Any, ...]
    #: the blocks that it makes
    made: tuple[Block, ...]


def cannot_raise(i: Instruction | FusedCall) -> bool:
    """Whether an instruction never raises."""
    if isinstance(i, FusedCall):
        return all(cannot_raise(c) for c in i.calls)
    if not isinstance(i, KernelCall):
        return isinstance(i, (Copy, Allocate, Upload))
    if i.op.effects.raises == "not of floats":
        return all((m.compute or m.dtype).is_floating_point for m in i.metas)
    return i.op.effects.raises is False


def touched(i: Instruction | FusedCall) -> Iterator[Block]:
    """The blocks that an instruction uses, including the blocks that windows are in."""
    if isinstance(i, FusedCall):
        for call in i.calls:
            yield from touched(call)
    elif isinstance(i, KernelCall):
        yield from i.outs
        for a in (*i.args, i.target):
            yield from _around(a)
    elif isinstance(i, Window):
        yield i.block
        yield from _around(i.of)
    elif isinstance(i, Copy):
        yield from _around(i.target)
        yield from _around(i.source)
    else:
        yield i.block


def _around(a: Any) -> Iterator[Block]:
    for p in places(a):
        block: Block | None = p.block
        while block is not None:
            yield block
            block = block.of


def written(i: Instruction | FusedCall) -> list[Block]:
    """The blocks that an instruction changes, without those that it creates."""
    if isinstance(i, FusedCall):
        return [b for call in i.calls for b in written(call)]
    if isinstance(i, Copy):
        return [root(i.target.block)]
    if not isinstance(i, KernelCall):
        return []
    found = [p for a, yes in zip(i.args, i.op.written, strict=True) if yes for p in places(a)]
    return [root(p.block) for p in ([*found, i.target] if i.target is not None else found)]


def places(a: Any) -> list[Place]:
    """The places in a (nested) argument."""
    if isinstance(a, Place):
        return [a]
    return [p for e in a for p in places(e)] if isinstance(a, list) else []
