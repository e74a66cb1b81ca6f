"""A pass over a trace: postpone writes to the session's memory until nothing more can raise.

A replay is all or nothing, so memory that is written before something may raise has to be copied first.
Whatever depends on a postponed write is postponed too, unless it may raise itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradd_engine.tracing import Allocate, Instruction, KernelCall, Upload, Window, root

from .blocks import cannot_raise, touched, written

if TYPE_CHECKING:
    from collections.abc import Sequence


def postpone_writes(code: Sequence[Instruction]) -> list[Instruction]:
    """The code with writes to the session's memory after all that may raise, if that keeps the results."""
    last = max((n for n, i in enumerate(code) if not cannot_raise(i)), default=-1)
    done: list[Instruction] = []
    waiting: list[Instruction] = []
    #: blocks that postponed instructions write to, and all that they use
    changed: set[int] = set()
    held: set[int] = set()
    for i in code[: last + 1]:
        changes = {b.number for b in written(i)}
        if isinstance(i, KernelCall):
            changes.update(b.number for b in i.outs)
        touches = {root(b).number for b in touched(i)}
        # Writes do not affect where a window begins or what is allocated.
        needs = not isinstance(i, (Window, Allocate)) and not (
            changed.isdisjoint(touches) and held.isdisjoint(changes)
        )
        if (needs or any(b.source is not None for b in written(i))) and _may_wait(i):
            waiting.append(i)
            changed |= changes
            held |= touches
            continue
        if needs:
            done += waiting
            waiting.clear()
            changed.clear()
            held.clear()
        done.append(i)
    return [*done, *waiting, *code[last + 1 :]]


def _may_wait(i: Instruction) -> bool:
    """Random steps and uploads are counted, so they must stay in order."""
    return cannot_raise(i) and not isinstance(i, Upload) and not (isinstance(i, KernelCall) and i.op.random)
