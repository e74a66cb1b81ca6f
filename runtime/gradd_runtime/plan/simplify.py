"""Passes over a trace: common subexpressions are merged, dead code is dropped.

Random steps stay, because their numbers are counted, and so does whatever may raise. Results are bitwise the
same.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from gradd_engine.tracing import (
    Allocate,
    Block,
    Copy,
    Instruction,
    KernelCall,
    Place,
    RuntimeValue,
    Upload,
    Window,
    root,
)

from .blocks import cannot_raise, touched, written

if TYPE_CHECKING:
    from collections.abc import Sequence


def merge_common(code: Sequence[Instruction], outliving: set[int]) -> list[Instruction]:
    """The code without kernels that repeat an earlier one on unchanged memory. `outliving`: numbers of blocks
    that outlive the program; each keeps its own memory.
    """
    changed = {b.number for i in code for b in written(i)}
    versions: Counter[int] = Counter()
    seen: dict[Any, tuple[Block, ...]] = {}
    instead: dict[int, Block] = {}
    kept: list[Instruction] = []
    for i in code:
        if instead:
            i = _moved(i, instead)
        if isinstance(i, KernelCall) and i.target is None and not i.op.random and not written(i):
            key = _key(i, versions)
            first = seen.setdefault(key, i.outs)
            if first is not i.outs and not any(
                b.number in outliving or b.number in changed or a.number in changed
                for a, b in zip(first, i.outs, strict=True)
            ):
                instead.update((b.number, a) for a, b in zip(first, i.outs, strict=True))
                continue
        for b in written(i):
            versions[b.number] += 1
        kept.append(i)
    return kept


def _key(i: KernelCall, versions: Counter[int]) -> Any:
    attrs = tuple((n, v if isinstance(v, RuntimeValue) else (type(v), repr(v))) for n, v in i.attrs.items())
    metas = tuple((tuple(m.shape), m.dtype, tuple(m.strides)) for m in i.metas)
    return i.op, _argument(list(i.args), versions), attrs, metas


def _argument(a: Any, versions: Counter[int]) -> Any:
    if isinstance(a, Place):
        return a, versions[root(a.block).number]
    if isinstance(a, list):
        return tuple(_argument(e, versions) for e in a)
    return a if isinstance(a, RuntimeValue) else (type(a), repr(a))


def _moved(i: Instruction, instead: dict[int, Block]) -> Instruction:
    """The instruction with merged blocks replaced."""
    if isinstance(i, KernelCall):
        return i._replace(args=tuple(_place(a, instead) for a in i.args), target=_place(i.target, instead))
    if isinstance(i, Copy):
        return Copy(_place(i.target, instead), _place(i.source, instead))
    if isinstance(i, Window):
        of = i.block.of
        if of is not None and of.number in instead:
            i.block.of = instead[of.number]
        return i._replace(of=_place(i.of, instead))
    return i


def _place(a: Any, instead: dict[int, Block]) -> Any:
    if isinstance(a, Place):
        found = instead.get(a.block.number)
        return a if found is None else a._replace(block=found)
    return [_place(e, instead) for e in a] if isinstance(a, list) else a


def drop_dead(code: Sequence[Instruction], outliving: set[int]) -> list[Instruction]:
    """The code without instructions that change only memory that is not used again."""
    used = set(outliving)
    kept: list[Instruction] = []
    for i in reversed(code):
        if not _is_dead(i, used):
            kept.append(i)
            used.update(b.number for b in touched(i))
    return kept[::-1]


def _is_dead(i: Instruction, used: set[int]) -> bool:
    if isinstance(i, (Allocate, Window)):
        return i.block.number not in used
    # Random steps and uploads are counted.
    if not cannot_raise(i) or isinstance(i, Upload) or (isinstance(i, KernelCall) and i.op.random):
        return False
    filled = i.outs if isinstance(i, KernelCall) else ()
    return all(b.source is None and b.number not in used for b in (*filled, *written(i)))
