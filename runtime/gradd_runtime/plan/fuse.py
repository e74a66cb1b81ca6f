"""A pass over a trace: element-wise instructions that a device can compute in one launch become one.

A group collects them in order. What comes between and has nothing to do with the group's memory goes before
it; what does ends it. In a group, instructions over one shape share a part: an element's values stay in the
registers of the thread that has it.
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Any

from gradd_engine.tracing import Allocate, Block, KernelCall, Place, RuntimeValue, Upload, Window

from .blocks import FusedCall, touched, written
from .formulas import formula, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_engine.backends.array import ArrayBackend
    from gradd_engine.tracing import Instruction

    from .formulas import Formula, Operand

#: most instructions of a group
LONGEST = 64


def fuse(
    code: Sequence[Instruction | FusedCall], memory: BlockMemory, backend: ArrayBackend, fusing: Any
) -> list[Instruction | FusedCall]:
    """The code with what can be fused in groups."""
    done: list[Instruction | FusedCall] = []
    group = Group(memory, fusing)
    for n, i in enumerate(code):
        found = formula(i, backend, fusing)
        if found is not None:
            if not group.add(n, i, found):
                done += group.close()
                group = Group(memory, fusing)
                if not group.add(n, i, found):
                    done.append(i)
            continue
        if group.meets(i):
            done += group.close()
            group = Group(memory, fusing)
        done.append(i)
    return [*done, *group.close()]


class BlockMemory:
    """Which blocks are one memory, and which instructions use each. `same`: blocks whose memory others have;
    `outliving`: numbers of blocks that outlive the program.
    """

    def __init__(
        self, code: Sequence[Instruction | FusedCall], same: dict[int, Block], outliving: set[int]
    ) -> None:
        self._same = same
        self.users: dict[int, set[int]] = {}
        for n, i in enumerate(code):
            for b in touched(i):
                self.users.setdefault(self.root(b), set()).add(n)
        #: memory that is used after the program
        self._outliving = {self.root(same.get(k, k)) for k in outliving}

    def root(self, block: Block | int) -> int:
        """The number of the block whose memory it is or lies in."""
        if isinstance(block, int):
            return block
        while True:
            if block.number in self._same:
                block = self._same[block.number]
            elif block.of is not None:
                block = block.of
            else:
                return block.number

    def stays(self, block: Block, members: set[int]) -> bool:
        """Whether anybody but some instructions uses a block's memory."""
        root = self.root(block)
        known = block.source is not None or block.of is not None or root in self._outliving
        return known or not self.users[root] <= members

    def own(self, place: Place, many: int) -> Place:
        """The place in the block that has the memory; as a vector where it is one of `many` elements."""
        found = self._same.get(place.block.number)
        block = place.block if found is None else found
        if is_dense(place) and prod(place.shape) in (1, many):
            return Place(block, (prod(place.shape),), (1,), place.offset, place.dtype)
        return place._replace(block=block)


class FusingPart:
    """Instructions over as many elements, in one order; `shape` is unknown while all arrays are vectors."""

    def __init__(self, many: int) -> None:
        self.many = many
        self.shape: tuple[int, ...] | None = None
        #: what is loaded, and its name
        self.loads: dict[Any, str] = {}
        self.lines: list[Any] = []
        #: place -> the name and the dtype's character of the value that it has by now
        self.made: dict[Place, tuple[str, str]] = {}


class Group:
    """Instructions for one launch."""

    def __init__(self, memory: BlockMemory, fusing: Any) -> None:
        self._memory, self._fusing = memory, fusing
        self._calls: list[tuple[int, Any]] = []
        self._parts: list[FusingPart] = []
        #: memory -> the parts that read or write it, and the places there
        self._seen: dict[int, list[tuple[FusingPart, Place]]] = {}
        self._changed: set[int] = set()
        #: what the launch may get, and how the code has it
        self._arrays: dict[Any, Any] = {}
        self._keys = 0

    def meets(self, i: Instruction | FusedCall) -> bool:
        """Whether an instruction cannot go before the group."""
        if not self._calls or isinstance(i, (Window, Upload)):
            return False
        root = self._memory.root
        if isinstance(i, Allocate):
            return root(i.block) in self._seen
        if self._keys and isinstance(i, KernelCall) and i.op.random:
            return True  # keys are counted
        changes = {root(b) for b in written(i)}
        if isinstance(i, KernelCall):
            changes.update(root(b) for b in i.outs)
        uses = {root(b) for b in touched(i)}
        return not (self._changed.isdisjoint(uses) and changes.isdisjoint(self._seen))

    def add(self, n: int, i: Any, found: Formula) -> bool:
        """Take an instruction in; False, with nothing done, if it cannot be part of this launch."""
        memory = self._memory
        many = prod(found.shape)
        target = memory.own(target_of(i), many)
        places = {memory.own(o.of, many): o.of for o in found.operands if isinstance(o.of, Place)}
        reads = list(places)
        if not many or overlaps(target) or len(self._calls) == LONGEST:
            return False
        numbers = {o: o for o in found.operands if isinstance(o.of, RuntimeValue)}
        arrays = {target: target_of(i), **places, **numbers, **self._arrays}
        if len(arrays) > self._fusing.MOST_ARRAYS or (found.random and target.strides != (1,)):
            return False
        flat = all(p.shape == (many,) or prod(p.shape) == 1 for p in (*reads, target))
        part = next((p for p in self._parts if self._fits(p, found.shape, flat, reads, target)), None)
        if part is None:
            part = FusingPart(many)
            if not self._fits(part, found.shape, flat, reads, target):
                return False
            self._parts.append(part)
        if not flat:
            part.shape = found.shape
        for p in (*reads, target):
            self._seen.setdefault(memory.root(p.block), []).append((part, p))
        self._changed.add(memory.root(target.block))
        self._arrays = arrays
        self._calls.append((n, i))
        self._compute(part, found, target)
        return True

    def _fits(
        self, part: FusingPart, shape: tuple[int, ...], flat: bool, reads: Sequence[Place], target: Place
    ) -> bool:
        """Whether what is read and written there may be, element by element, in a part of the launch."""
        if part.many != prod(shape) or not (flat or part.shape in (None, shape)):
            return False
        root = self._memory.root
        for p in reads:
            if root(p.block) in self._changed and p not in part.made:
                return False
        mine = root(target.block)
        others = [(part, p) for p in reads if root(p.block) == mine]
        return all(by is part and p == target for by, p in (*self._seen.get(mine, ()), *others))

    def _compute(self, part: FusingPart, found: Formula, target: Place) -> None:
        cast, line = self._fusing.cast, self._fusing.FusedLine
        names, kind = [], ""
        for o in found.operands:
            name, has = self._value(part, o)
            names.append(cast(name, has, o.kind))
            kind = o.kind
        for text, kind in found.lines:
            part.lines.append(line(filled(text, names, self._keys), kind))
            names.append(f"v{len(part.lines) - 1}")
        self._keys += found.random
        wanted = kind_of(target.dtype) or ""
        if kind != wanted:
            part.lines.append(line(cast(names[-1], kind, wanted), wanted))
            names.append(f"v{len(part.lines) - 1}")
        part.made[target] = names[-1], wanted

    def _value(self, part: FusingPart, o: Operand) -> tuple[str, str]:
        """The name of an operand's value and its dtype's character."""
        what = self._memory.own(o.of, part.many) if isinstance(o.of, Place) else o
        if isinstance(what, Place) and what in part.made:
            return part.made[what]
        if not isinstance(o.of, (Place, RuntimeValue)):
            return self._fusing.literal(o.of), o.kind
        if what not in part.loads:
            part.loads[what] = f"x{len(part.loads)}"
        return part.loads[what], kind_of(what.dtype) or "" if isinstance(what, Place) else o.kind

    def close(self) -> list[Instruction | FusedCall]:
        """The group as one call, or the only instruction that it has."""
        if len(self._calls) < 2:
            return [i for _, i in self._calls]
        memory, fusing = self._memory, self._fusing
        members = {n for n, _ in self._calls}
        arrays: dict[Any, int] = {}
        parts = []
        for part in self._parts:
            shape = part.shape or (part.many,)

            def array(what: Any, shape: tuple[int, ...] = shape) -> Any:
                at = arrays.setdefault(what, len(arrays))
                return fusing.FusedArray(at, strides_over(what, shape))

            stays = [(name, p) for p, (name, _) in part.made.items() if memory.stays(p.block, members)]
            if stays:
                loads = tuple(array(what) for what in part.loads)
                stores = tuple((name, array(p)) for name, p in stays)
                parts.append(fusing.FusedPart(shape, loads, tuple(part.lines), stores))
        kinds = [kind_of(a.dtype) if isinstance(a, Place) else a.kind for a in arrays]
        calls = tuple(i for _, i in self._calls)
        fresh = {b.number: b for i in calls if isinstance(i, KernelCall) for b in i.outs}
        given = tuple(self._arrays[a] for a in arrays)
        made = {a.block.number for a in arrays if isinstance(a, Place)} & fresh.keys()
        kernel = fusing.FusedKernel(kinds, parts, self._keys)
        return [FusedCall(calls, kernel, given, tuple(fresh[k] for k in sorted(made)))]


def target_of(i: Any) -> Place:
    """Where an instruction's result goes."""
    if i.target is not None:
        found: Place = i.target
        return found
    (block,) = i.outs
    m = block.meta
    return Place(block, tuple(m.shape), tuple(m.strides), 0, m.dtype)


def is_dense(place: Place) -> bool:
    """Whether its elements lie one behind another, row by row."""
    step = 1
    for n, s in zip(reversed(place.shape), reversed(place.strides), strict=True):
        if n != 1 and s != step:
            return False
        step *= n
    return True


def overlaps(place: Place) -> bool:
    """Whether an element may be at two indices."""
    return any(n > 1 and s == 0 for n, s in zip(place.shape, place.strides, strict=True))


def strides_over(what: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a place or number over a shape: 0 where it is repeated."""
    none = tuple([0] * len(shape))
    if not isinstance(what, Place) or prod(what.shape) == 1:
        return none
    if what.shape == (prod(shape),) and what.strides == (1,):
        return tuple(prod(shape[d + 1 :]) for d in range(len(shape)))
    begin = len(shape) - len(what.shape)
    own = zip(what.shape, what.strides, strict=True)
    return (*none[:begin], *[s if n > 1 else 0 for n, s in own])


def filled(text: str, names: Sequence[str], key: int) -> str:
    """A line with the names of what it is computed from, and its random key, the launch's number `key`."""
    drawn = f"key_of(keys, {key}, n.of[{2 * key}], n.of[{2 * key + 1}])"
    return re.sub(r"\{(\w+)\}", lambda m: drawn if m[1] == "key" else names[int(m[1])], text)
