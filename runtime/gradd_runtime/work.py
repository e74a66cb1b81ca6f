"""A batch's work, however it was spelled: a bound program with what travels beside it, and what came of
it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gradd_engine.data import OutOfQuota
from gradd_protocol.limits import DEFAULT, MIB
from gradd_protocol.problems import Problem, ProtocolError
from gradd_protocol.program import GradOf

from .admission import admit
from .executor import over_quota, run
from .pins import values_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradd_engine.tensor import Tensor

    from .binding import Bound
    from .session import Session

#: an array, the name of its dtype, and the storage that it lies in (None: memory of its own)
Fetched = tuple[Any, str, Any]
#: inline results of one reply, so that it fits a stream message
_INLINE_TOTAL = MIB
ADMITTED = 4096


@dataclass(slots=True)
class Work:
    """What to run and what to do with its outputs. `keep`: slot -> id; `binds`: slot -> names; `late`: (name,
    id); `fetch`: slots, gradients of slots, ids and names.
    """

    bound: Bound
    tensors: list[Tensor]
    values: list[Any]
    uploads: list[Any]
    keep: dict[int, str]
    binds: dict[int, list[str]]
    late: list[tuple[str, str]]
    fetch: list[int | GradOf | str]
    free: list[str]
    unbind: list[str]
    labels: list[str] = field(default_factory=list)

    def fetched_slots(self) -> Iterator[int]:
        """The slots of which `fetch` wants the value or the gradient."""
        for f in self.fetch:
            if isinstance(f, int):
                yield f
            elif isinstance(f, GradOf):
                yield f.of


@dataclass(slots=True)
class Outcome:
    """What came of it: steps that stand, what was fetched, the problem that stopped it."""

    applied: int = 0
    problem: Problem | None = None
    results: list[Fetched] = field(default_factory=list)
    inline: list[Any] = field(default_factory=list)
    #: bytes of `results` that are copies, counted in the account until `settle`
    copied: int = 0

    def room(self, nbytes: int) -> bool:
        """Whether another result may ride in the reply."""
        used: int = sum(a.nbytes for a in self.inline)
        return used + nbytes <= _INLINE_TOTAL


def perform(work: Work, session: Session) -> Outcome:
    """Admit, run, keep, bind, fetch, free. A failing step stops its program; earlier steps stand, and nothing
    is freed.
    """
    table = session.table

    def produced(slot: int, t: Any) -> None:
        if t is None:
            return
        kept = work.keep.get(slot)
        if kept is not None:
            table.keep(kept, t)
        for name in work.binds.get(slot, ()):
            table.bind(name, t)

    try:
        session.pinned.settle()
    except OutOfQuota as error:
        return Outcome(problem=over_quota(error, applied=0))
    session.hooks.ration.left = DEFAULT.batch_hook_steps
    profile = session.profile
    began = 0.0 if profile is None else profile.begin()
    done = session.plans.run(work, session, produced)
    why = "" if done is not None else session.plans.why
    if done is None:
        refusal = _admission(work, session)
        if refusal is not None:
            session.plans.failed()
            return Outcome(problem=refusal)
        backend: Any = session.backend
        with backend.watched(None if profile is None else profile.watch):
            done = run(
                work.bound, session.backend, work.tensors, work.values, work.uploads, produced,
                set(work.fetched_slots()),
            )  # fmt: skip
        if done.problem is not None:
            session.plans.failed()
    if profile is not None and work.bound.calls:
        profile.batch(began, session.position, work.bound.id, len(work.bound.calls), why)
    outcome = Outcome(done.applied, done.problem)
    if outcome.problem is None:
        try:
            for name, where in work.late:
                table.bind(name, table.find(where))
            for f in work.fetch:
                outcome.results.append(_fetch(f, done.slots, session, outcome))
        except ProtocolError as error:
            outcome.problem = error.problem
        except (OutOfQuota, MemoryError) as error:
            outcome.problem = over_quota(error, applied=done.applied)
    if outcome.problem is not None:
        outcome.results.clear()
    del done
    work.tensors.clear()
    if outcome.problem is None:
        for name in (*work.free, *work.unbind):
            table.drop(name)
    return outcome


def _admission(work: Work, session: Session) -> Problem | None:
    """Run on shapes first, once for each combination of program and input geometry without grown state."""
    signature = (
        work.bound.id,
        tuple(
            (
                t.shape,
                t.strides,
                t.offset,
                t.dtype,
                t._conj,
                t.requires_grad,
                t._requires_grad,
                t._fn is None,
                t._base is None,
            )
            for t in work.tensors
        ),
    )
    known = session.admitted
    if signature in known and not work.bound.values:
        return None
    found = admit(work.bound, work.tensors, work.values)
    if found is None:
        known[signature] = None
        if len(known) > ADMITTED:
            known.popitem(last=False)
    return found


def _fetch(what: int | GradOf | str, slots: Any, session: Session, outcome: Outcome) -> Fetched:
    if isinstance(what, int):
        t = slots[what]
    elif isinstance(what, GradOf):
        t = slots[what.of]
        t = None if t is None else t._grad
    else:
        t = session.table.find_ref(what)
    if t is None:
        return None, "", None
    values = values_of(t, session.account)
    if values is t.array:
        return values, t.dtype.name, t.storage
    outcome.copied += values.nbytes
    session.account.charge(values.nbytes)
    return values, t.dtype.name, None
