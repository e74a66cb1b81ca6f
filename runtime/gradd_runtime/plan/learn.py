"""Which of a plan's kernels sweeps run: found out in its second replay, so that a plan that runs once pays
nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .lower import Plain
from .rows import RanKernel
from .sweep import LEAST, MOVES, Sweeping, moves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .registers import PlanStep, Registers
    from .sweep import PlanCode, Sweep, SweepLoad

#: most of them, whose results are held while a sweep is made
MOST = 1000
#: bytes of the largest result; above, the loop itself is what takes time
LARGEST = 2048


def may_sweep(step: PlanStep) -> bool:
    """Whether a step may be part of a sweep, as far as can be told before it runs."""
    kernel = step.run
    if not isinstance(kernel, Plain) or not kernel.pure:
        return False
    meta = kernel.meta
    # A result of no dimensions comes as a scalar, and is made an array.
    trusted = kernel.trusted or not meta.shape
    return bool(trusted and meta.contiguous and 0 < meta.nbytes <= LARGEST)


class SweepRows(NamedTuple):
    """Steps that may be part of sweeps, and the registers that nobody else uses."""

    steps: set[int]
    own: set[int]


def in_rows(code: PlanCode) -> SweepRows:
    """The steps that may be part of a sweep, have enough such beside them, and are worth it."""
    steps, writes_at, template, _, users = code
    rows: list[list[int]] = [[]]
    for n, step in enumerate(steps):
        if not may_sweep(step) or n == writes_at:
            rows.append([])
        if may_sweep(step):
            rows[-1].append(n)
    rows = [row for row in rows if len(row) >= LEAST]
    may = {n for row in rows for n in row}
    kernels: list[Any] = [step.run for step in steps]
    over = {register for step in steps for register in step.dead}
    made = {kernels[n].out for n in may}
    own = {r for r in made & over if all(may.issuperset(span) for span in users[r])}
    found: set[int] = set()
    for row in rows:
        dead = {register for n in row for register in steps[n].dead}
        given = {w for n in row for w in kernels[n].wanted if template[w] is None}
        outs = {kernels[n].out for n in row}
        if moves(given - outs, outs - dead, own) <= MOVES * len(row):
            found.update(row)
    return SweepRows(found, own)


def join(sweeps: Sequence[Sweep], code: PlanCode, loops: Any) -> None:
    """Let sweeps read what earlier ones left where it is, if nobody else uses it."""
    swept = {n for s in sweeps for n in range(s.first, s.end)}
    over = {register for step in code.steps for register in step.dead}
    loads: dict[int, list[tuple[Sweep, SweepLoad]]] = {}
    for s in sweeps:
        for load in s.loads:
            loads.setdefault(load.register, []).append((s, load))
    addresses = loops.ROW - (loops.ROW - 3) // 2
    for s in sweeps:
        stays = []
        for register, place in s.stores:
            found = loads.get(register, ())
            if (
                register not in over
                or not all(swept.issuperset(span) for span in code.users[register])
                or any(load.place.shape != place.shape or load.part for _, load in found)
            ):
                stays.append((register, place))
                continue
            for reader, load in found:
                reader.loads = [x for x in reader.loads if x is not load]
                for n, k in load.readers:
                    reader.rows[n, addresses + k] = place.ctypes.data
        s.stores = stays


def learn(registers: Registers, code: PlanCode, rows: SweepRows, loops: Any) -> list[Sweep]:
    """Run the steps one by one, as a plan's first replay does, and find its sweeps."""
    account, arrays = registers.account, registers.arrays
    may, own = rows
    found: list[Sweep] = []
    sweeping = Sweeping(loops, code, own)

    def close() -> Sweeping:
        if not sweeping.kernels:
            return sweeping
        try:
            made = sweeping.make()
        except MemoryError:
            made = None  # the plan goes on without
        if made is not None:
            found.append(made)
        return Sweeping(loops, code, own)

    for n, step in enumerate(code.steps):
        if account.brim < 0:
            account.look(account.asked)
        if n == code.writes_at:
            sweeping = close()
            registers.wrote, account.heeds = True, False
        kernel = step.run
        if n in may:
            assert isinstance(kernel, Plain)
            given = kernel.fetch(arrays)
            kernel(registers)
            done = RanKernel(n, kernel, given, arrays[kernel.out])
            if len(sweeping.kernels) >= MOST or not sweeping.add(done):
                sweeping = close()
                sweeping.add(done)
        else:
            sweeping = close()
            kernel(registers)
        for register in step.dead:
            arrays[register] = None
    close()
    join(found, code, loops)
    return found
