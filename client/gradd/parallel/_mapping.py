"""A function is called once for each of several sessions, in threads."""

from __future__ import annotations

import threading
from collections.abc import Sized
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from gradd_engine.data.state import state

from .._session import SESSIONS, Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

R = TypeVar("R")

#: what a call finds as its caller has it, as in torch.nn.parallel.parallel_apply
_MODES = ("anomaly", "casting", "check_nan", "dtype", "grad", "inference", "layout_policy", "tf32")
#: whether this is such a call
_calling: ContextVar[bool] = ContextVar("gradd_calling", default=False)


def map(sessions: Iterable[Session], fn: Callable[..., R], *iterables: Iterable[Any]) -> list[R]:
    """``[fn(session, a, b, ...) for session, a, b, ... in zip(sessions, *iterables)]``, all calls at once,
    each in a thread of its own where its session is current. Returns when all are done, and what they
    recorded is sent.

    A call has its caller's gradient mode and autocast; it changes its own alone. Random numbers are its
    session's: ``manual_seed`` in `fn` seeds that one. All record what the calling thread would, so a loop of
    calls is planned like any other. Raises the first exception of a call, in the order of the sessions, with
    notes of the others. ValueError: a session that is there twice, an iterable that is too short, or too
    long where it has a length. TypeError: no sessions. RuntimeError: called by a `fn`, a function that
    `gradd.function` traces, or a hook. Ctrl-C stops what the sessions do.

    As https://docs.pytorch.org/docs/stable/_modules/torch/nn/parallel/parallel_apply.html
    """
    outside("map")
    where = distinct(list(sessions))
    rows = [(session, *row) for session, row in zip(where, _rows(len(where), iterables), strict=True)]
    for session in where:
        lock: Any = session.lock
        if lock._is_owned():
            raise RuntimeError(
                "parallel.map() is called while its session records: in a traced function, or a hook"
            )
    calls = [_Call(session, fn, row) for session, row in zip(where, rows, strict=True)]
    try:
        try:
            for call in calls:
                call.start()
        finally:
            _wait(calls)
        for call in calls:
            if call.error is not None:
                _tell(calls, call.error)
                raise call.error
        return [call.result for call in calls]
    finally:
        calls.clear()  # a traceback has this frame


def outside(name: str) -> None:
    """RuntimeError in a call of `map`: the others go on meanwhile, so nobody may touch their sessions."""
    if _calling.get():
        raise RuntimeError(
            f"parallel.{name}() is for the thread that calls parallel.map(), not for its calls"
        )


def distinct(sessions: list[Any]) -> list[Session]:
    """The sessions, if each is there once; else ValueError, TypeError."""
    for at, session in enumerate(sessions):
        if not isinstance(session, Session):
            raise TypeError(f"sessions[{at}] is a {type(session).__name__}, and no session")
        if (first := sessions.index(session)) < at:
            raise ValueError(f"sessions[{at}] is sessions[{first}]")
    return sessions


def _rows(count: int, iterables: tuple[Iterable[Any], ...]) -> list[tuple[Any, ...]]:
    """The next `count` items of all. ValueError where one has fewer, or says that it has more."""
    columns = []
    for at, one in enumerate(iterables):
        if isinstance(one, Sized) and len(one) != count:
            raise ValueError(f"iterable {at} has {len(one)} items for {count} sessions")
        items = iter(one)
        column = [item for _, item in zip(range(count), items, strict=False)]
        if len(column) < count:
            raise ValueError(f"iterable {at} has {len(column)} items for {count} sessions")
        columns.append(column)
    return list(zip(*columns, strict=True)) if columns else [()] * count


class _Call(threading.Thread):
    """`fn` in one session, by the recorder of the thread that makes this."""

    result: Any = None
    error: BaseException | None = None

    def __init__(self, session: Session, fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
        super().__init__(name="gradd-parallel", daemon=True)
        self.session, self._fn, self._args = session, fn, args
        self._lent = session.lend()
        own = vars(state)
        self._modes = {name: own[name] for name in _MODES if name in own}

    def run(self) -> None:
        """See Thread.run."""
        vars(state).update(self._modes)
        _calling.set(True)
        try:
            self._lent()
            SESSIONS.enter(self.session)
            recorder = self.session.ready()
            recorder.trail.follow()
            if recorder.trail.on:
                state.trail = recorder.trail
            self.result = self._fn(*self._args)
            with self.session.lock:
                if recorder.building.steps and not self.session.away:
                    recorder.flush()
        except BaseException as error:
            self.error = error
        finally:
            state.trail = None
            del self._fn, self._args

    def over(self) -> None:
        """The recorder is its thread's again."""
        if self.ident is not None and not self.is_alive():
            self.session.recorder().trail.follow()


def _wait(calls: list[_Call]) -> None:
    """Wait for all that began. An interrupt has what their sessions do stopped; another one is not waited
    for.
    """
    begun = [call for call in calls if call.ident is not None]
    try:
        try:
            for call in begun:
                call.join()
        except BaseException:
            for call in begun:
                if call.is_alive():
                    with suppress(Exception):
                        call.session.cancel()
            for call in begun:
                call.join()
            raise
    finally:
        for call in begun:
            call.over()


def _tell(calls: list[_Call], first: BaseException) -> None:
    for at, call in enumerate(calls):
        if call.error is first:
            first.add_note(f"raised in sessions[{at}]")
        elif call.error is not None:
            first.add_note(f"and in sessions[{at}]: {type(call.error).__name__}: {call.error}")
