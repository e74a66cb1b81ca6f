"""A plan: a traced program as a flat list of calls."""

from __future__ import annotations

import marshal
from collections import Counter
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gradd_engine.data import ambient
from gradd_engine.graph import Estimate
from gradd_engine.tensor import Tensor
from gradd_engine.tracing import (
    AbstractInputs,
    Allocate,
    Block,
    Commit,
    Guards,
    InputSignature,
    Instruction,
    KernelCall,
    TraceBackend,
    TraceFailed,
    TraceOutputs,
    Upload,
    commit_simple,
    floats,
    plain,
    traced,
)

from ..program import run
from .blocks import FusedCall, cannot_raise, written
from .elide import elide_copies
from .for_device import for_device
from .graph import PlanGraph
from .learn import in_rows, learn
from .lower import Lowering
from .postpone import postpone_writes
from .registers import Registers
from .segments import GraphSteps
from .simplify import drop_dead, merge_common
from .straight import straight
from .sweep import PlanCode
from .timed import timed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gradd_engine.backends.array import ArrayBackend
    from gradd_engine.data import Meta

    from ..batch import Work
    from ..program import RunContext
    from .learn import SweepRows
    from .registers import PlanStep
    from .settled import Inputs

#: most bytes that a replay copies, to restore them if something raises after they were written
UNDO_BYTES = 16 << 20
#: a plan that took longer stops between two steps if it is asked to; others are over before anybody asks
LOOKS_SECONDS = 0.005
#: bytes of a plan's step, with the tensors and places that describe it (measured with tracemalloc)
STEP_BYTES = 3200


class PlanBroken(RuntimeError):
    """A replay failed too late to be undone: some of its writes to the session's tensors took effect."""


class LooksBehind(TraceFailed):
    """A trace needed the graphs of `inputs`, which were not walked."""

    def __init__(self, inputs: set[int]) -> None:
        super().__init__("it looks into graphs that were not walked")
        self.inputs = inputs


class Plan:
    """A traced program: calls over registers, and its final state."""

    #: its key in the cache
    key: Any = None
    #: whether a replay leaves its inputs as they were, which are all tensors without graphs
    inert: bool
    #: how it runs on a device that has graphs, once it has run
    graph: PlanGraph | None = None
    _graphed: tuple[set[int], dict[int, int], list[int], set[int], dict[int, Meta]] | None = None

    def __init__(
        self, work: Work, context: RunContext, wanted: tuple[int, ...], found: InputSignature
    ) -> None:
        backend: Any = context.backend
        self._backend: ArrayBackend = backend
        guards = Guards()
        recorder = TraceBackend(backend.device, guards)
        self._mirrored = AbstractInputs(recorder, found)
        values = [traced(v, i, guards) for i, v in enumerate(work.values)]
        costs = Estimate()
        with ambient(account=None, generator=None, ledger=costs):
            done = run(
                work.bound, recorder, self._mirrored.inputs, values, work.uploads, lambda slot, t: None,
                range(work.bound.slots),
            )  # fmt: skip
        if self._mirrored.seen:
            raise LooksBehind(self._mirrored.seen)
        if done.problem is not None:
            raise TraceFailed(done.problem.detail)
        self._mirrored.check(found)
        self.guards = {i: plain(values[i]) for i in guards.places}
        self._slots = {s: done.slots[s] for s in wanted}
        self.applied = done.applied
        self._ending = TraceOutputs(self._mirrored, self._slots)
        outliving = self._ending.outliving
        _check_floating(recorder.code, found)
        code = drop_dead(merge_common(recorder.code, self._ending.blocks), self._ending.blocks)
        code, same = elide_copies(postpone_writes(code), set(outliving))
        changed = {b.number for i in code for b in written(i)}
        lowering = Lowering(backend, same, self._mirrored.traced, changed)
        listed = for_device(code, same, set(outliving), backend)
        first, early = _order(listed)
        #: inputs whose memory is written to before something that may raise
        self._early = [b.source for b in early if b.source is not None]
        kept = {id(s): s for i in self._early if (s := found.tensors[i]._storage) is not None}
        if sum(s.nbytes for s in kept.values()) > UNDO_BYTES:
            raise TraceFailed("much is written before something that may raise")
        #: the first step that cannot be undone
        self._writes_at = 0
        self._targets = [b.source for i in code for b in written(i) if b.source is not None]
        for n, i in enumerate(listed):
            lowering.lower(i)
            if n < first:
                self._writes_at = len(lowering.steps)
        homes = {number: lowering.home(b) for number, b in outliving.items()}
        self._ending.settle(homes)
        plain_inputs = not found.nodes and len({*found.inputs}) == len(found.tensors)
        self.inert = self._ending.inert and plain_inputs and not self._targets
        self._steps = lowering.schedule(set(homes.values()))
        self._template = lowering.template
        self._loads, self._numbers, self._number = lowering.loads, lowering.numbers, lowering.number
        self._sources = sorted(lowering.sources.items())
        self._bits = b""
        numbers = {register for register, _, _ in self._numbers}
        self._code = PlanCode(self._steps, self._writes_at, self._template, numbers, lowering.users)
        self._straight: Callable[[Registers], None] | None = None
        if backend.captures and backend.kernels.fusing is not None:
            shared = Counter(b.number for b in lowering.outer.values())
            written_to = {r: shared[b.number] for r, b in lowering.outer.items() if b.number in changed}
            outer = {r: written_to.get(r, 0) for r in lowering.outer}
            made = {homes[number]: b.meta for number, b in sorted(outliving.items())}
            self._graphed = lowering.early, outer, sorted(lowering.late), lowering.written_to(), made
        #: whether to stop between steps if asked to; None before the first replay
        self._looks: bool | None = None
        #: what sweeps may run, found after the first replay
        self._rows: SweepRows | None = None
        #: run-time numbers that lie in the memory of sweeps: (place, register)
        self._cells: list[tuple[Any, int]] = []
        #: most bytes that a replay can add to the session, and the approximate size of the plan
        cost = backend.cost
        self.bytes = sum(_bytes(i, cost) for i in recorder.code) + sum(cost(s.nbytes) for s in kept.values())
        self.bytes += costs.nbytes + max((_room(i) for i in recorder.code), default=0)
        self.own_bytes = STEP_BYTES * (len(self._steps) + len(self._ending.near) + len(self._ending.nodes))
        self.own_bytes += sum(cost(getattr(x, "nbytes", 0)) for x in self._template)

    def fits(self, values: Sequence[Any]) -> bool:
        """Whether the values that the trace read are the same now."""
        return all(repr(values[i]) == repr(v) for i, v in self.guards.items())

    def replay(self, work: Work, context: RunContext, found: InputSignature | Inputs) -> dict[int, Tensor]:
        """Run it and return the tensors of the wanted slots. If it raises, nothing has changed."""
        reals, ending = found.tensors, self._ending
        if self._numbers:
            # Convert a loop's constants only once.
            bits = marshal.dumps(work.values)
            if bits != self._bits:
                for register, at, compute in self._numbers:
                    self._template[register] = self._number(work.values[at], compute)
                for place, register in self._cells:
                    place[...] = self._template[register]
                self._bits = bits
        arrays = self._template.copy()
        registers = Registers(arrays, work.values, iter(work.uploads), context.generator, context.account)
        for register, i in self._loads:
            arrays[register] = reals[i].array
        for number, i in self._sources:
            storage = reals[i]._storage
            assert storage is not None
            registers.flats[number] = storage.flat
            registers.begins[number] = reals[i].offset
        drawn = context.generator.step
        before: list[tuple[Any, Any]] = []
        if self._early:
            registers.keep = lambda: before.extend((flat, flat.copy()) for flat in self._flats(found))
            if self.graph is None or context.profiler is not None:
                registers.keep()
        try:
            if context.profiler is not None:
                self._run(registers, timed(self._steps, context.profiler))
            elif self._straight is not None:
                self._straight(registers)
            elif self._looks is None:
                began = perf_counter()
                self._run(registers, self._steps)
                self._looks = perf_counter() - began > LOOKS_SECONDS
                self._rows = in_rows(self._code) if self._backend.kernels.loops is not None else None
                if self._graphed is not None and len(self._graphed[0]) < len(self._steps):
                    self._straight = self._graph(*self._graphed, self._looks).run
                elif self._rows is None or not self._rows.steps:
                    self._straight = straight(self._steps, self._writes_at, self._looks)
            else:
                assert self._rows is not None
                self._learn(registers, self._looks, self._rows)
            registers.wrote = True  # to the session's tensors and graphs, from here on
            context.account.heeds = False
            if ending.simple:
                tensors = commit_simple(ending, registers, self._backend)
            else:
                commit = Commit(ending, found, registers, self._backend)
                commit.make()
                tensors = commit.tensors
        except BaseException as error:
            context.generator.step = drawn
            if registers.wrote:
                self._spoil(found)
                raise PlanBroken(
                    f"a plan failed where nothing may fail: {error}. What came before was not undone: "
                    "tensors that this batch writes to may have new values"
                ) from error
            for flat, old in before:
                flat[...] = old
            raise
        made: dict[int, Any] = {s: tensors.get(id(t)) for s, t in self._slots.items()}
        return made

    def _learn(self, registers: Registers, looks: bool, rows: SweepRows) -> None:
        """The second replay finds out which kernels a sweep can run: whoever replays once pays nothing."""
        sweeps = learn(registers, self._code, rows, self._backend.kernels.loops)
        self._straight = straight(self._steps, self._writes_at, looks, sweeps)
        self._cells = [cell for s in sweeps for cell in s.cells]
        self.own_bytes += sum(s.nbytes for s in sweeps)

    def _graph(
        self, early: set[int], outer: dict[int, int], late: list[int], changed: set[int],
        homes: dict[int, Meta], looks: bool,
    ) -> PlanGraph:  # fmt: skip
        """The steps for a device, where what finds inputs in memory goes before all others."""
        code = GraphSteps.after(early, self._code, looks, changed, homes)
        first = [step for n, step in enumerate(self._steps) if n in early]
        body = straight(code.steps, code.writes_at, looks)
        numbers = [register for register, _, _ in self._numbers]
        self.graph = PlanGraph(self._backend, first, body, code, outer, numbers, late)
        return self.graph

    def _flats(self, found: InputSignature | Inputs) -> list[Any]:
        """The memory that is written to before the last step that may raise."""
        storages: list[Any] = [found.tensors[i]._storage for i in self._early]
        return [s.flat for s in {id(s): s for s in storages}.values()]

    def _spoil(self, found: InputSignature | Inputs) -> None:
        """Raise the version of all that may have been written to, so that graphs that saved it notice."""
        counters: list[Any] = [found.tensors[i]._vc for i in self._targets]
        for counter in {id(c): c for c in counters}.values():
            counter.n += 1

    def _run(self, registers: Registers, steps: Iterable[PlanStep]) -> None:
        account = registers.account
        for n, call in enumerate(steps):
            if account.brim < 0:
                account.look(account.asked)
            if n == self._writes_at:
                registers.wrote, account.heeds = True, False
            call.run(registers)
            for register in call.dead:
                registers.arrays[register] = None


def _room(i: Instruction) -> int:
    """Bytes that an instruction needs in addition to its inputs and results."""
    if not isinstance(i, KernelCall):
        return 0
    return max((m.room + (m.nbytes if i.target is not None else 0) for m in i.metas), default=0)


def _bytes(i: Instruction, cost: Callable[[int], int]) -> int:
    """Bytes that an instruction allocates."""
    if isinstance(i, KernelCall):
        return sum(cost(b.nbytes) for b in i.outs)
    return cost(i.block.nbytes) if isinstance(i, (Allocate, Upload)) else 0


def _check_floating(code: Sequence[Instruction], found: InputSignature) -> None:
    """Refuse writes to memory that holds an input at a variable offset: what overlaps is not known in
    advance.
    """
    shared = {id(t._storage) for t in found.tensors if floats(t)}
    for b in (b for i in code for b in written(i)):
        if b.source is not None and id(found.tensors[b.source]._storage) in shared:
            raise TraceFailed("a write to memory that an input of unknown place is in")


def _order(code: Sequence[Instruction | FusedCall]) -> tuple[int, list[Block]]:
    """The first instruction that writes to the session's memory after all that may raise, and the session's
    blocks that are written to before it, which are restored if something raises.
    """
    last = max((n for n, i in enumerate(code) if not cannot_raise(i)), default=-1)
    early = {b.number: b for i in code[: max(last, 0)] for b in written(i) if b.source is not None}
    later = (n for n in range(last + 1, len(code)) if any(b.source is not None for b in written(code[n])))
    return next(later, len(code)), list(early.values())
