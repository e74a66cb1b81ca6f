"""Runs of small kernels as one compiled loop: a sweep.

A kernel of four elements takes a fraction of what calling it does. Where several in a row do nothing but call
ufuncs (see `recipes` and `rows`), a sweep runs NumPy's own inner loops over memory that the plan keeps.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .rows import RanKernel, rows_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from .registers import PlanStep
    from .rows import LoopRow

#: fewest kernels of a sweep: fewer gain nothing over copying their inputs in and their results out
LEAST = 4
#: arrays that a sweep may copy in and out for each of its kernels: a copy takes a fourth of a small kernel's
#: time, and what gains little is not worth the making
MOVES = 1
#: parts of a sweep's memory begin at multiples of it
ALIGN = 64


class PlanCode(NamedTuple):
    """A plan's steps, and what is known of its registers."""

    steps: Sequence[PlanStep]
    #: the first step that cannot be undone
    writes_at: int
    #: what registers hold when a replay starts
    template: Sequence[Any]
    #: registers of run-time numbers
    numbers: set[int]
    #: register -> the steps of each instruction that uses it
    users: dict[int, list[range]]


class SweepLoad(NamedTuple):
    """What each replay copies in: of a register its `part`, an index as text, to `place`; and its readers
    there, as (row, operand).
    """

    place: Any
    register: int
    part: str
    readers: list[tuple[int, int]]


class Sweep:
    """Steps `first` to before `end` of a plan, as rows of `kernels/loops.py`."""

    __slots__ = ("cells", "dead", "end", "first", "loads", "memory", "rows", "run", "stores")

    def __init__(self, run: Any, first: int, end: int) -> None:
        #: ``run(address of the rows, how many)``
        self.run, self.first, self.end = run, first, end
        #: registers that are not used after it
        self.dead: tuple[int, ...] = ()
        self.loads: list[SweepLoad] = []
        #: (place, register): numbers, copied in where they change
        self.cells: list[tuple[Any, int]] = []
        #: (register, place): results that are used after it
        self.stores: list[tuple[int, Any]] = []
        self.rows: Any = None
        self.memory: Any = None

    @property
    def nbytes(self) -> int:
        """Bytes of its memory and its rows."""
        return int(self.memory.nbytes + self.rows.nbytes)


class Places:
    """Gives out parts of a sweep's memory. A part that is given back is used again for what has its size."""

    def __init__(self) -> None:
        self.nbytes = 0
        self._free: dict[int, list[int]] = {}

    def take(self, nbytes: int) -> int:
        """Where a part of so many bytes begins."""
        size = -(-nbytes // ALIGN) * ALIGN
        free = self._free.get(size)
        if free:
            return free.pop()
        self.nbytes += size
        return self.nbytes - size

    def give(self, at: int, nbytes: int) -> None:
        """Nobody reads it any more."""
        self._free.setdefault(-(-nbytes // ALIGN) * ALIGN, []).append(at)


class SweepLine(NamedTuple):
    """A row with numbers for values: what it reads, what it writes."""

    row: LoopRow
    reads: tuple[int, ...]
    out: int


class Sweeping:
    """Collects kernels that ran one after another, and makes a sweep of them. Values are numbered."""

    def __init__(self, loops: Any, code: PlanCode, own: set[int]) -> None:
        self._loops, self._steps, self._numbers = loops, code.steps, code.numbers
        #: what registers hold when a replay starts
        self._template = code.template
        #: registers that sweeps alone use
        self._own = own
        self.kernels: list[RanKernel] = []
        self._lines: list[SweepLine] = []
        #: how many lines there are after each kernel
        self._ends: list[int] = []
        #: of each value: shape and dtype
        self._values: list[tuple[tuple[int, ...], Any]] = []
        #: register -> its value, of results
        self._made: dict[int, int] = {}
        #: (register, form) -> its value, and an array to copy from while it is tried
        self._inputs: dict[tuple[int, tuple[int, ...]], tuple[int, Any]] = {}
        self._constants: dict[tuple[Any, bytes], int] = {}

    def _value(self, shape: tuple[int, ...], dtype: Any) -> int:
        self._values.append((shape, dtype))
        return len(self._values) - 1

    def add(self, done: RanKernel) -> bool:
        """Take a kernel in; False, with nothing done, if it cannot follow those before it."""
        kernel, given = done.kernel, done.given
        for a in given:
            if type(a) is not np.ndarray:
                return False
        rows = rows_of(self._loops, done, tuple([w in self._made for w in kernel.wanted]))
        if rows is None:
            return False
        first = len(given)
        results: list[int] = []
        for row in rows:
            reads = []
            for (at, number, form, _), dtype in zip(row.operands, row.dtypes, strict=False):
                if number:
                    found = self._constants.get((dtype, number))
                    if found is None:
                        found = self._constants[dtype, number] = self._value((), dtype)
                elif at >= first:
                    found = results[at - first]
                else:
                    found = self._made.get(kernel.wanted[at])
                    if found is None:
                        found = self._input(kernel.wanted[at], form, given[at])
                reads.append(found)
            results.append(self._value(row.shape, row.dtypes[-1]))
            self._lines.append(SweepLine(row, tuple(reads), results[-1]))
        self._made[kernel.out] = results[-1]
        self.kernels.append(done)
        self._ends.append(len(self._lines))
        return True

    def _input(self, register: int, form: tuple[int, ...], a: Any) -> int:
        known = self._inputs.get((register, form))
        if known is None:
            known = self._inputs[register, form] = self._value(form, a.dtype), a
        return known[0]

    def make(self) -> Sweep | None:
        """The sweep of what was collected; None if it gains nothing, or has other bits than the kernels."""
        if len(self.kernels) < LEAST:
            return None
        first, end = self.kernels[0].step, self.kernels[-1].step + 1
        sweep = Sweep(self._loops.sweep, first, end)
        over = {r for step in self._steps[first:end] for r in step.dead}
        sweep.dead = tuple(sorted(over - self._made.keys()))
        stay = {v: register for register, v in self._made.items() if register not in over}
        copied = [r for r, _ in self._inputs if self._template[r] is None]
        if moves(copied, stay.values(), self._own) > MOVES * len(self.kernels):
            return None
        places, nbytes = self._arrange(stay.keys())
        sweep.memory = np.zeros(nbytes + ALIGN, np.uint8)
        begin = -sweep.memory.ctypes.data % ALIGN
        memory = sweep.memory[begin:]
        sweep.rows = self._addressed(places, memory.ctypes.data)

        def view(v: int) -> Any:
            shape, dtype = self._values[v]
            return np.ndarray(shape, dtype, memory, places[v])

        for (dtype, number), v in self._constants.items():
            view(v)[...] = np.frombuffer(number, dtype)[0]
        readers = self._readers()
        for (register, _), (v, a) in self._inputs.items():
            place = view(v)
            one = a.size > 1 and place.size == 1
            place[...] = a[(slice(1),) * a.ndim] if one else a
            if self._template[register] is None:
                index = f"[{', '.join([':1'] * a.ndim)}]" if one else ""
                sweep.loads.append(SweepLoad(place, register, index, readers[v]))
            elif register in self._numbers:
                sweep.cells.append((place, register))
        sweep.stores = [(register, view(v)) for v, register in stay.items()]
        return sweep if self._agrees(sweep, memory, places) else None

    def _readers(self) -> dict[int, list[tuple[int, int]]]:
        """Of each value that is read, who reads it, as (row, operand)."""
        found: dict[int, list[tuple[int, int]]] = {}
        for n, line in enumerate(self._lines):
            for k, v in enumerate(line.reads):
                found.setdefault(v, []).append((n, k))
        return found

    def _arrange(self, stay: Collection[int]) -> tuple[list[int], int]:
        """Where each value begins, and how many bytes all take. Values never in use at once share places."""
        last = [-1] * len(self._values)
        for n, line in enumerate(self._lines):
            for v in (*line.reads, line.out):
                last[v] = n
        sizes = [prod(shape) * dtype.itemsize for shape, dtype in self._values]
        # What is copied in once stays; so does what is read after the sweep.
        kept = {*stay, *self._constants.values()}
        kept.update(v for (r, _), (v, _) in self._inputs.items() if self._template[r] is not None)
        free, places = Places(), [0] * len(sizes)
        for v in (*self._constants.values(), *[v for v, _ in self._inputs.values()]):
            places[v] = free.take(sizes[v])
        for n, (_, reads, out) in enumerate(self._lines):
            # The result's place is taken while its operands have theirs: loops look whether the two overlap.
            places[out] = free.take(sizes[out])
            for v in {*reads, out}:
                if last[v] == n and v not in kept:
                    free.give(places[v], sizes[v])
        return places, free.nbytes

    def _addressed(self, places: list[int], base: int) -> Any:
        found = []
        most = (self._loops.ROW - 3) // 2
        for row, reads, out in self._lines:
            unused = [0] * (most - len(reads) - 1)
            strides = [o.stride for o in row.operands]
            addresses = [base + places[v] for v in reads]
            found.append(
                [*row.loop, row.times, *strides, row.dtypes[-1].itemsize, *unused, *addresses,
                 base + places[out], *unused]
            )  # fmt: skip
        return np.array(found, np.int64)

    def _agrees(self, sweep: Sweep, memory: Any, places: list[int]) -> bool:
        """Run it kernel by kernel, and look whether each gives what it gave."""
        begin, address, step = 0, sweep.rows.ctypes.data, sweep.rows.strides[0]
        for done, end in zip(self.kernels, self._ends, strict=True):
            sweep.run(address + begin * step, end - begin)
            at, begin = places[self._lines[end - 1].out], end
            if memory[at : at + done.found.nbytes].tobytes() != done.found.tobytes():
                return False
        return True


def moves(copied: Collection[int], stay: Collection[int], own: set[int]) -> int:
    """How many arrays are copied in and out, where sweeps leave to each other what is their `own`."""
    return sum(r not in own for r in copied) + sum(r not in own for r in stay)
