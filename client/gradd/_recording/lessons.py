"""What a session remembers of the programs that it records again and again."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from gradd_engine.schema import Pass

from .remember import eligible, freed_by, leaves_of, pass_of, repeat_of

if TYPE_CHECKING:
    from gradd_engine.schema import Op

    from .._exceptions import Site
    from .._program import Builder, CachedProgram, Recorded
    from .repeats import Repeat

#: how many ops are remembered for one thread
_MOST = 1 << 15
#: how many lessons a program has at most, and how many are taken in all: of one whose inputs are new each
#: time nothing can be learned
_KEPT, _TAKEN = 4, 24
#: how often nodes are made after all before they are made at once: that takes less than to answer first
_VAIN = 3
#: how many programs with one first op are looked through
_ALIKE = 4


class Lesson:
    """What the ops of a program were called with and gave in one batch, by their places; None for those that
    are not answered.
    """

    __slots__ = ("hints", "known", "repeats", "vain")

    def __init__(self, known: CachedProgram) -> None:
        self.known = known
        self.repeats: list[Repeat | None] = [None] * len(known.steps)
        #: as `CachedProgram.hints`, of ops that are answered
        self.hints: list[tuple[int, Site] | None] = [None] * len(known.steps)
        #: how often nodes were made after all since a pass had no need of them
        self.vain = 0

    def repeat(self, at: int, op: Op) -> Repeat | None:
        """What is remembered of this op at this place, if it is to be answered."""
        found = self.repeats[at] if at < len(self.repeats) else None
        if found is None or found.op is not op or (found.tracked and self.vain > _VAIN):
            return None
        return found


class _Taught:
    """The lessons of one program, the latest first."""

    __slots__ = ("left", "lessons")

    def __init__(self) -> None:
        self.lessons: list[Lesson] = []
        self.left = _TAKEN


class Lessons:
    """Those of one thread's programs."""

    def __init__(self) -> None:
        self._programs: OrderedDict[CachedProgram, _Taught] = OrderedDict()
        self._begins: dict[Op, list[CachedProgram]] = {}

    def of(self, known: CachedProgram) -> list[Lesson]:
        """The lessons of a program."""
        found = self._programs.get(known)
        return [] if found is None else found.lessons

    def beginning(self, op: Op) -> list[CachedProgram]:
        """Programs that begin with this op, the latest first."""
        return self._begins.get(op, [])

    def begun(self, op: Op, known: CachedProgram) -> bool:
        """A batch begins as this program did. Whether more may be learned of it."""
        found = self._begins.setdefault(op, [])
        if known not in found[:1]:
            found[:] = [known, *(each for each in found if each is not known)][:_ALIKE]
        taught = self._programs.get(known)
        return taught is None or taught.left > 0

    def take(self, lesson: Lesson) -> None:
        """Remember a lesson."""
        taught = self._programs.setdefault(lesson.known, _Taught())
        taught.left -= 1
        taught.lessons[:] = [lesson, *taught.lessons][:_KEPT]
        self._programs.move_to_end(lesson.known)
        while len(self._programs) > 1 and sum(map(_size, self._programs.values())) > _MOST:
            self._programs.popitem(last=False)


def _size(taught: _Taught) -> int:
    return sum(len(lesson.repeats) for lesson in taught.lessons)


class Draft:
    """A lesson that is being taken, of a batch whose ops all run on the mirror."""

    def __init__(self, building: Builder, known: CachedProgram, since: int) -> None:
        self.building, self.lesson = building, Lesson(known)
        #: the nodes of the ops, None for those that are not answered; they are made since this number
        self._nodes: list[weakref.ref[Any] | None] = []
        self._since = since
        #: how many ops have nodes
        self._calls = 0

    def add(
        self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], outs: tuple[Any, ...], many: bool,
        at: int, step: Recorded, usual: bool, drawn: int,
    ) -> None:  # fmt: skip
        """An op ran; `usual`: in the usual circumstances; `drawn`: how often it drew random numbers."""
        found = self._learned(op, inputs, attrs, outs, many, step) if usual else None
        if found is not None:
            found.draws = drawn
            self.lesson.repeats[at] = found
        nodes = [weakref.ref(o._fn) for o in outs if o is not None and o._fn is not None]
        if found is not None and found.tracked:
            self._calls += 1
            self._nodes += nodes
        elif found is None and nodes:
            self._nodes.append(None)

    def _learned(
        self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], outs: tuple[Any, ...], many: bool,
        step: Recorded,
    ) -> Repeat | None:  # fmt: skip
        role = op.effects.backward_pass
        leaves = None
        if role is not None:
            nodes = [ref for ref in self._nodes if ref is not None]
            if len(nodes) < len(self._nodes):
                return None
            if freed_by(op, attrs):
                leaves = leaves_of(inputs[0], self.building, nodes, self._since)
                if leaves is None:
                    return None
        if role is Pass.BACKWARD:
            found = None if leaves is None else pass_of(op, step, inputs, attrs)
        else:
            found = repeat_of(op, step, inputs, attrs, outs, many) if eligible(op, attrs) else None
        if found is not None and role is not None:
            found.leaves, found.number = leaves, self._calls
        return found
