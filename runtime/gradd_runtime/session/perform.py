"""Performs work on a session: runs it by a plan, or admits it and runs it eagerly; keeps outputs, fetches
results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.data import Halted, OutOfQuota
from gradd_protocol.limits import DEFAULT
from gradd_protocol.problems import ProtocolError
from gradd_protocol.program import GradOf

from ..batch import Outcome
from ..program import halted, op_failed, over_quota, run
from ..tensors import values_of

if TYPE_CHECKING:
    from gradd_protocol.problems import Problem

    from ..batch import Fetched, Work
    from .state import SessionState


def perform(work: Work, session: SessionState, writer: int = 0, seq: int = 0) -> Outcome:
    """Admit, run, keep, bind, fetch, free. A failing step stops the program; earlier steps keep their
    effects, and nothing is freed. So does a stop that `session.orders` ask for.
    """
    account = session.account
    try:
        session.orders.begin(account, writer, seq)
        return _perform(work, session, writer, seq)
    except Halted as stop:  # before the first step, or in a plan, which undoes what it did
        work.tensors.clear()
        return Outcome(problem=halted(stop, None, 0))
    finally:
        account.heeds = False


def _perform(work: Work, session: SessionState, writer: int, seq: int) -> Outcome:
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
        _count(work, session)
        session.pins.settle()
    except OutOfQuota as error:
        return Outcome(problem=over_quota(error, applied=0))
    session.ration.left = DEFAULT.batch_hook_steps
    profiler = session.profiler
    began = 0.0 if profiler is None else profiler.begin()
    done, why = session.plans.run(work, session, produced), ""
    if done is None:
        why = session.plans.why
        refusal = session.admitted.refusal(work.bound, work.tensors, work.values)
        if refusal is not None:
            session.plans.failed()
            return Outcome(problem=refusal)
        backend: Any = session.backend
        with backend.watched(None if profiler is None else profiler.watch):
            done = run(
                work.bound, session.backend, work.tensors, work.values, work.uploads, produced,
                set(work.fetched_slots()), session.account,
            )  # fmt: skip
        if done.problem is not None:
            session.plans.failed()
    session.account.heeds = False  # what is done is answered
    if profiler is not None and work.bound.steps:
        steps = len(work.bound.steps)
        profiler.batch(began, session.position, work.bound.id, steps, why, writer, seq, work.recording)
        if profiler.left == 0:
            session.profiler, session.measured = None, profiler
    outcome = Outcome(done.applied, done.problem)
    if work.fetch and outcome.problem is None:
        outcome.problem = _late(session, outcome.applied)
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
    del done
    work.tensors.clear()
    if outcome.problem is None:
        for name in (*work.free, *work.unbind):
            table.drop(name)
    else:
        outcome.results.clear()
    return outcome


def _late(session: SessionState, applied: int) -> Problem | None:
    """What a device found wrong with values since results were last fetched; the results would be made of
    them.
    """
    try:
        session.doubts.settle()
    except Exception as error:
        return op_failed(error, None, applied)
    return None


def _count(work: Work, session: SessionState) -> None:
    """Raise OutOfQuota for a batch that would keep more tensors than may be, or add to graphs that have as
    many nodes as may be.
    """
    kept = len(work.keep)
    if work.binds:
        kept += sum(map(len, work.binds.values()))
    if kept:
        session.account.allow("tensors", kept, len(session.table), DEFAULT.session_tensors)
    if work.bound.steps:
        session.account.allow("graph nodes", 1, session.account.nodes, DEFAULT.session_nodes)


def _fetch(what: int | GradOf | str, slots: Any, session: SessionState, outcome: Outcome) -> Fetched:
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
        return values, t.dtype.name, t._storage
    outcome.copied += values.nbytes
    session.account.charge(values.nbytes)
    return values, t.dtype.name, None
