"""Runs of small kernels as one compiled loop: a sweep.

A kernel of four elements takes a fraction of what calling it does. Where several in a row do nothing but call
ufuncs (see `recipes`), a sweep runs NumPy's own inner loops over memory that the plan keeps: same loops, counts
and strides, so the same bits. `kernels/loops.py` has what runs them.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .lower import Plain
from .recipes import recipe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .recipes import Operand, UfuncCall
    from .registers import PlanStep, Registers

#: fewest kernels of a sweep: fewer gain nothing over copying their inputs in and their results out
LEAST = 4
#: most of them, whose results are held while a sweep is made
MOST = 1000
#: bytes of the largest result; above, the loop itself is what takes time
LARGEST = 2048
#: parts of a sweep's memory begin at multiples of it
ALIGN = 64
#: whether NumPy copies inputs that are repeated along some axes into a buffer, and calls its loop once
_BUFFERS = np.lib.NumpyVersion(np.__version__) >= "2.4.0"


class Sweep:
    """Steps `first` to before `end` of a plan, as rows of `kernels/loops.py`."""

    __slots__ = ("cells", "dead", "end", "first", "loads", "memory", "rows", "run", "stores")

    def __init__(self, run: Any, first: int, end: int) -> None:
        #: ``run(address of the rows, how many)``
        self.run, self.first, self.end = run, first, end
        #: registers that are not used after it
        self.dead: tuple[int, ...] = ()
        #: (place, register, index): what each replay copies in, of an input its part at `index`, written out
        self.loads: list[tuple[Any, int, str]] = []
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


class Value(NamedTuple):
    """What a row reads or writes: a result by its register, an input by its register and the shape it is
    copied to, something in between by a number of its own; or a constant.
    """

    register: int
    shape: tuple[int, ...]
    dtype: Any
    #: of a kernel's results in between
    part: int = -1
    constant: bytes = b""

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        return int(prod(self.shape) * self.dtype.itemsize)


class Line(NamedTuple):
    """A row before its values have places."""

    loop: tuple[int, int]
    count: int
    operands: tuple[tuple[Value, int], ...]
    out: Value


class Done(NamedTuple):
    """A kernel that ran: what it was given, and what it gave."""

    step: int
    kernel: Plain
    given: Sequence[Any]
    found: Any


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


class Sweeping:
    """Collects kernels that ran one after another, and makes a sweep of them."""

    def __init__(self, loops: Any, steps: Sequence[PlanStep], template: Sequence[Any], numbers: set[int]) -> None:
        self._loops, self._steps = loops, steps
        #: what registers hold when a replay starts, and which of them are run-time numbers
        self._template, self._numbers = template, numbers
        self.kernels: list[Done] = []
        #: how many lines there are after each kernel
        self._ends: list[int] = []
        self._lines: list[Line] = []
        #: register -> its value, of results
        self._made: dict[int, Value] = {}
        #: inputs, and an array to copy each from while it is tried
        self._inputs: dict[Value, Any] = {}

    def add(self, done: Done) -> bool:
        """Take a kernel in; False, with nothing done, if it cannot follow those before it."""
        kernel, meta = done.kernel, done.kernel.meta
        shape, dtype = tuple(meta.shape), meta.dtype.np
        if not all(type(a) is np.ndarray for a in done.given):
            return False
        geometry = [(a.shape, a.dtype) for a in done.given]
        run, xp = (kernel.impl, kernel.xp) if kernel.direct is None else (kernel.direct, None)
        attrs = kernel.attrs if kernel.direct is None else {}
        calls = recipe(run, xp, geometry, attrs, (shape, dtype))
        if calls is None:
            return False
        fresh: dict[Value, Any] = {}
        parts: list[Value] = []
        lines: list[Line] = []
        for n, call in enumerate(calls):
            loop = self._loops.inner(call.ufunc, call.kinds)
            if loop is None:
                return False
            operands = []
            for o, char in zip(call.operands, call.kinds, strict=False):
                found = self._operand(o, np.dtype(char), call, done, parts, fresh)
                if found is None:
                    return False
                operands.append(found)
            last = n == len(calls) - 1
            out = Value(kernel.out, call.shape, call.dtype, -1 if last else n)
            parts.append(out)
            lines.append(Line(loop, prod(call.shape), tuple(operands), out))
        self._inputs.update(fresh)
        self._lines += lines
        self._made[kernel.out] = parts[-1]
        self.kernels.append(done)
        self._ends.append(len(self._lines))
        return True

    def _operand(
        self, o: Operand, dtype: Any, call: UfuncCall, done: Done, parts: Sequence[Value], fresh: dict[Value, Any]
    ) -> tuple[Value, int] | None:
        """The value of an operand and its stride; None where NumPy would do more than call its loop."""
        inputs = done.kernel.wanted
        if o.number:
            return Value(-1, (), dtype, constant=o.number), 0
        if o.at >= len(inputs):
            made: Value | None = parts[o.at - len(inputs)]
        else:
            made = self._made.get(inputs[o.at])
        if made is not None:
            stride = _stride(made.shape, call.shape, made.dtype.itemsize)
            return None if stride is None else (made, stride)
        a, register = done.given[o.at], inputs[o.at]
        form = _form(a, call.shape)
        if form is None:
            return None
        value = Value(register, form, dtype)
        fresh[value] = a
        return value, dtype.itemsize if form == call.shape and form else 0

    def make(self) -> Sweep | None:
        """The sweep of what was collected; None if it is too little, or has other bits than the kernels."""
        if len(self.kernels) < LEAST:
            return None
        first, end = self.kernels[0].step, self.kernels[-1].step + 1
        sweep = Sweep(self._loops.sweep, first, end)
        over = {r for step in self._steps[first:end] for r in step.dead}
        sweep.dead = tuple(sorted(over - self._made.keys()))
        stay = [v for register, v in self._made.items() if register not in over]
        places, nbytes = self._arrange(stay)
        memory = np.zeros(nbytes + ALIGN, np.uint8)
        begin = -memory.ctypes.data % ALIGN
        sweep.memory = memory

        def view(v: Value) -> Any:
            at = begin + places[v]
            return memory[at : at + v.nbytes].view(v.dtype).reshape(v.shape)

        base = memory.ctypes.data + begin
        sweep.rows = np.array([self._row(line, base, places) for line in self._lines], np.int64)
        for v in places:
            if v.constant:
                view(v)[...] = np.frombuffer(v.constant, v.dtype)[0]
        for v, a in self._inputs.items():
            one = a.size > 1 and prod(v.shape) == 1
            view(v)[...] = a[(slice(1),) * a.ndim] if one else a
            if self._template[v.register] is None:
                index = f"[{', '.join([':1'] * a.ndim)}]" if one else ""
                sweep.loads.append((view(v), v.register, index))
            elif v.register in self._numbers:
                sweep.cells.append((view(v), v.register))
        sweep.stores = [(v.register, view(v)) for v in stay]
        return sweep if self._agrees(sweep, view) else None

    def _arrange(self, stay: Sequence[Value]) -> tuple[dict[Value, int], int]:
        """Where each value begins, and how many bytes all take. Values that are never in use at once share."""
        last: dict[Value, int] = {}
        for n, line in enumerate(self._lines):
            last.update({v: n for v, _ in line.operands})
            last.setdefault(line.out, n)
        free, places = Places(), {}
        # What is copied in once stays; so does what is read after the sweep.
        kept = {v for v in last if v.constant or (v in self._inputs and self._template[v.register] is not None)}
        for v in (*self._inputs, *(v for v in kept if v.constant)):
            places[v] = free.take(v.nbytes)
        kept.update(stay)
        for n, line in enumerate(self._lines):
            # The result's place is taken while its operands have theirs: loops look whether the two overlap.
            places[line.out] = free.take(line.out.nbytes)
            for v in {*(v for v, _ in line.operands), line.out}:
                if last[v] == n and v not in kept:
                    free.give(places[v], v.nbytes)
        return places, free.nbytes

    def _row(self, line: Line, base: int, places: dict[Value, int]) -> list[int]:
        values = [*line.operands, (line.out, line.out.dtype.itemsize)]
        strides = [stride for _, stride in values]
        addresses = [base + places[v] for v, _ in values]
        unused = [0] * ((self._loops.ROW - 3) // 2 - len(values))
        return [*line.loop, line.count, *strides, *unused, *addresses, *unused]

    def _agrees(self, sweep: Sweep, view: Any) -> bool:
        """Run it kernel by kernel, and look whether each gives what it gave."""
        begin, address = 0, sweep.rows.ctypes.data
        for done, end in zip(self.kernels, self._ends, strict=True):
            sweep.run(address + begin * sweep.rows.strides[0], end - begin)
            if view(self._made[done.kernel.out]).tobytes() != done.found.tobytes():
                return False
            begin = end
        return True


def _stride(shape: tuple[int, ...], into: tuple[int, ...], itemsize: int) -> int | None:
    """The stride that NumPy gives its loop for a row-major operand; None if it would repeat some of it."""
    if shape == into:
        return itemsize if shape else 0
    if prod(shape) == 1:
        return 0 if not shape or prod(into) > 1 else None
    return None


def _form(a: Any, into: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape to which an input is copied: that of the result, or of one element; None if NumPy gives its
    loop another stride than the one of such a copy.
    """
    if a.ndim == 0:
        return ()
    count = prod(into)
    if a.shape == into and a.flags.c_contiguous and a.strides[-1] == a.itemsize:
        return into
    if count > 1 and all(n == 1 or s == 0 for n, s in zip(a.shape, a.strides, strict=True)):
        return (1,) * a.ndim
    if _BUFFERS and count > 1 and a.shape != into and a.flags.c_contiguous:
        return into
    return None


def may_sweep(step: PlanStep) -> bool:
    """Whether a step may be part of a sweep, as far as can be told before it runs."""
    kernel = step.run
    if not isinstance(kernel, Plain) or not kernel.pure:
        return False
    meta = kernel.meta
    # A result of no dimensions comes as a scalar, and is made an array.
    trusted = kernel.trusted or not meta.shape
    return bool(trusted and meta.contiguous and 0 < meta.nbytes <= LARGEST)


def worth_it(steps: Sequence[PlanStep], writes_at: int) -> bool:
    """Whether there are enough in a row for a sweep."""
    row = 0
    for n, step in enumerate(steps):
        row = may_sweep(step) * (row * (n != writes_at) + 1)
        if row >= LEAST:
            return True
    return False


def learn(
    registers: Registers, steps: Sequence[PlanStep], writes_at: int, template: Sequence[Any],
    numbers: set[int], loops: Any,
) -> list[Sweep]:
    """Run the steps as a plan's first replay does, and find its sweeps."""
    account, arrays = registers.account, registers.arrays
    found: list[Sweep] = []

    def begin() -> Sweeping:
        return Sweeping(loops, steps, template, numbers)

    def close() -> Sweeping:
        made = sweeping.make()
        if made is not None:
            found.append(made)
        return begin()

    sweeping = begin()
    for n, step in enumerate(steps):
        if account.brim < 0:
            account.look(account.asked)
        if n == writes_at:
            sweeping = close()
            registers.wrote, account.heeds = True, False
        kernel = step.run
        if may_sweep(step):
            assert isinstance(kernel, Plain)
            given = kernel.fetch(arrays)
            kernel(registers)
            done = Done(n, kernel, given, arrays[kernel.out])
            if len(sweeping.kernels) >= MOST or not sweeping.add(done):
                sweeping = close()
                sweeping.add(done)
        else:
            sweeping = close()
            kernel(registers)
        for register in step.dead:
            arrays[register] = None
    close()
    return found
