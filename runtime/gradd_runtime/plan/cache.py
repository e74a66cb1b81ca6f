"""Which programs have a plan, and running one."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from gradd_engine.state import ambient
from gradd_engine.tensor import Tensor

from ..executor import Run, run
from .commit import Commit, survivors
from .elide import elide_copies
from .lower import Frame, Lowering
from .mirror import Found, Mirrored, Unplannable, floats
from .numbers import Guards, TraceFailed, plain, traced
from .trace import Allocate, Block, Copy, Instruction, Kernel, Place, TraceBackend, Upload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_engine.backends.array import ArrayBackend

    from ..session import Session
    from ..work import Work

#: plans and sightings that a session remembers
LIMIT = 256
VARIANTS = 4
#: families whose kernels never refuse a value; only they may run after the first write to a session's memory
_CALM = frozenset(
    {
        "activations", "affine", "arithmetic", "attention", "avgpool", "batchnorm", "bce", "cast",
        "combine", "comparison", "complex", "conv", "create", "diagonals", "dropout", "elementwise",
        "erf", "groupnorm", "inplace", "joining", "losses", "matmul", "norm", "norms", "optim",
        "pooling", "reductions", "reshape", "scalars", "scans", "shape", "slicing", "softhard",
        "softmax", "variance", "views",
    }
)  # fmt: skip
#: but for these of their ops: integers may be divided by zero
_RAISE = frozenset({"div", "div_"})


class PlanBroken(RuntimeError):
    """A replay failed after it had begun to write: the session's state is not to be trusted."""


class Plan:
    """A traced program: calls over registers, and the state it ends with."""

    def __init__(self, work: Work, session: Session, wanted: tuple[int, ...], found: Found) -> None:
        backend: Any = session.backend
        self._backend: ArrayBackend = backend
        guards = Guards()
        recorder = TraceBackend(backend.device, guards)
        self._mirrored = Mirrored(recorder, found)
        values = [traced(v, i, guards) for i, v in enumerate(work.values)]
        with ambient(account=None, generator=None, level=-1):
            done = run(
                work.bound, recorder, self._mirrored.inputs, values, work.uploads, lambda slot, t: None
            )
        if done.problem is not None:
            raise TraceFailed(done.problem.detail)
        _check_inputs(self._mirrored, found)
        self.guards = {i: plain(values[i]) for i in guards.places}
        self._slots = {s: done.slots[s] for s in wanted}
        self.applied = done.applied
        roots: list[Any] = [*self._slots.values(), *self._mirrored.traced, *self._mirrored.nodes]
        self._tensors, self._nodes = survivors(roots)
        outliving = {b.number: b for t in self._tensors if (b := _root(t.storage)).source is None}
        _check_floating(recorder.code, found)
        code, same = elide_copies(recorder.code, set(outliving))
        lowering = Lowering(backend, same)
        first = _check_order(code)
        #: the first step that writes to memory of the session
        self._writes_at = 0
        for n, i in enumerate(code):
            lowering.lower(i)
            if n < first:
                self._writes_at = len(lowering.steps)
        self._homes = {number: lowering.home(b) for number, b in outliving.items()}
        self._steps = lowering.schedule(set(self._homes.values()))
        self._size = len(lowering.registers)
        self._sources = sorted(
            {b.number: b for p in lowering.registers if (b := _root(p.block)).source is not None}.items()
        )
        self.bytes = sum(b.nbytes for i in recorder.code if isinstance(i, Kernel) for b in i.outs)

    def fits(self, values: Sequence[Any]) -> bool:
        """Whether the values that the trace looked at are the same now."""
        return all(repr(values[i]) == repr(v) for i, v in self.guards.items())

    def replay(self, work: Work, session: Session, found: Found) -> dict[int, Tensor]:
        """Run it; the wanted slots' tensors. Raises before it changed anything, or not at all."""
        reals = found.tensors
        frame = Frame(self._size, work.values, work.uploads, session.generator)
        for number, block in self._sources:
            assert block.source is not None
            storage = reals[block.source].storage
            assert storage is not None
            frame.flats[number] = storage.flat
            frame.begins[number] = reals[block.source].offset
        drawn = session.generator.step
        arrays = frame.arrays
        n = 0
        try:
            for step, dead in self._steps:
                step(frame)
                n += 1
                for register in dead:
                    arrays[register] = None
        except BaseException as error:
            session.generator.step = drawn
            if n >= self._writes_at:
                raise PlanBroken(f"a planned kernel failed after the first write: {error}") from error
            raise
        commit = Commit(self._mirrored, found, frame, self._backend, self._homes, session.account)
        commit.make(self._tensors, self._nodes)
        commit.settle(self._mirrored)
        return {s: commit.tensor(t) for s, t in self._slots.items()}


def _root(storage: Any) -> Block:
    block: Block = storage
    while block.of is not None:
        block = block.of
    return block


def _check_inputs(mirrored: Mirrored, found: Found) -> None:
    """Inputs must still be where they were: assigning `.data` moves them."""
    for t, real in zip(mirrored.traced, found.tensors, strict=True):
        block: Any = t.storage
        moved = not block.floats and t.offset != real.offset
        if moved or tuple(t.shape) != tuple(real.shape) or t.strides != real.strides:
            raise TraceFailed("an input changed its geometry")
        if block.source is None or t._hooks:
            raise TraceFailed("an input changed its memory")


def _written(i: Instruction) -> list[Block]:
    """The blocks that an instruction changes, besides those that it fills."""
    if isinstance(i, Copy):
        return [_root(i.target.block)]
    if not isinstance(i, Kernel):
        return []
    places = [p for a, yes in zip(i.args, i.op.written, strict=True) if yes for p in _places(a)]
    return [_root(p.block) for p in ([*places, i.target] if i.target is not None else places)]


def _check_floating(code: Sequence[Instruction], found: Found) -> None:
    """Memory that a floating input is in must not be written: which of it overlaps is not known
    beforehand.
    """
    shared = {id(t.storage) for t in found.tensors if floats(t)}
    for b in (b for i in code for b in _written(i)):
        if b.source is not None and id(found.tensors[b.source].storage) in shared:
            raise TraceFailed("a write to memory that an input of unknown place is in")


def _places(a: Any) -> list[Place]:
    if isinstance(a, Place):
        return [a]
    return [p for e in a for p in _places(e)] if isinstance(a, list) else []


def _check_order(code: Sequence[Instruction]) -> int:
    """The first instruction that writes to the session's memory or to an upload.

    TraceFailed where one that may raise comes later: a replay is all or nothing.
    """
    uploads = {i.block.number for i in code if isinstance(i, Upload)}

    def lasts(i: Instruction) -> bool:
        return any(b.source is not None or b.number in uploads for b in _written(i))

    first = next((n for n, i in enumerate(code) if lasts(i)), len(code))
    for i in code[first:]:
        calm = isinstance(i, (Copy, Allocate)) or (
            isinstance(i, Kernel) and i.op.family in _CALM and i.op.name not in _RAISE
        )
        if not calm:
            raise TraceFailed("a write comes before something that may raise")
    return first


class Plans:
    """A session's plans. `run` is the executor's `run` with the same result."""

    #: the first sighting of a key runs eagerly; tests turn this off to plan all that can be planned
    first_eager = True
    #: whether anything is planned at all; tests compare with this off
    enabled = True

    def __init__(self) -> None:
        self._known: OrderedDict[Any, list[Plan] | None] = OrderedDict()
        self._seen: OrderedDict[Any, None] = OrderedDict()
        self.counts = {"planned": 0, "eager": 0, "traced": 0}

    def find(self, work: Work, session: Session) -> tuple[Plan, Found] | None:
        """The plan for this work and what comes in with it: None at the first sighting, and for what cannot
        be planned.
        """
        bound = work.bound
        if not self.enabled or not bound.plannable or session.backend.is_meta:
            return None
        try:
            inputs = Found(work.tensors)
        except Unplannable:
            return None
        wanted = tuple(sorted({*work.keep, *work.binds, *(f for f in work.fetch if isinstance(f, int))}))
        key = (bound.id, inputs.key, wanted, tuple((u.shape, u.dtype) for u in work.uploads))
        plans = self._known.get(key, ())
        if plans is None:
            return None
        found = next((p for p in plans if p.fits(work.values)), None)
        if found is not None:
            self._known.move_to_end(key)
            return found, inputs
        if self.first_eager and key not in self._seen:
            self._remember(self._seen, key, None)
            return None
        if len(plans) >= VARIANTS:
            self._known[key] = None
            return None
        try:
            plan = Plan(work, session, wanted, inputs)
        except Exception:
            # Whatever a trace runs into, the eager run answers for; the session's tensors are untouched.
            self._remember(self._known, key, None)
            return None
        self.counts["traced"] += 1
        self._remember(self._known, key, [*plans, plan])
        return plan, inputs

    @staticmethod
    def _remember(where: OrderedDict[Any, Any], key: Any, value: Any) -> None:
        where[key] = value
        where.move_to_end(key)
        if len(where) > LIMIT:
            where.popitem(last=False)

    def run(self, work: Work, session: Session, produced: Any) -> Run | None:
        """Run the work by its plan and report each output; None where it has to run eagerly, and nothing was
        done.
        """
        hit = self.find(work, session)
        account = session.account
        slots = None
        if hit is not None and account.used + hit[0].bytes <= account.limit:
            try:
                slots = hit[0].replay(work, session, hit[1])
            except PlanBroken:
                raise
            except Exception:
                # Nothing was changed: what raised raises again, at its step, when the program runs eagerly.
                slots = None
        if hit is None or slots is None:
            self.counts["eager"] += 1
            return None
        self.counts["planned"] += 1
        done = Run([slots.get(s) for s in range(work.bound.slots)], applied=hit[0].applied)
        for s, t in slots.items():
            produced(s, t)
        return done
