"""A session made again from its record: the same frames through the same `handle`."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from gradd_engine.data import Halted, OutOfQuota
from gradd_protocol.messages import Restored

from ..store import Damaged, Diverged, Entry

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from ..store import Store
    from .session import Session

_log = logging.getLogger("gradd.runtime")
_NO_LIMIT = 1 << 62


class _Expected:
    """In place of the store while a record is replayed: compares what comes with what was."""

    def __init__(self) -> None:
        self.entry: Entry | None = None
        self.came: Entry | None = None

    def append(self, entry: Entry) -> None:
        self.came = entry

    def entries(self) -> Iterable[Entry]:
        return ()

    def probe(self) -> None:
        """Nothing is written."""

    def close(self) -> None:
        """Nothing is open."""


class Foreign(NamedTuple):
    """Entries of a record that other kernels may have run than those that run them again."""

    first: int
    """From this one on."""
    made_by: str
    by: str


def foreign(after: int, by: str, rows: Sequence[tuple[int, str]]) -> Foreign | None:
    """Those after entry `after`; None if the kernels `by` have run all. `rows`: which kernels have had the
    session, from which entry on. After an entry of others, those of `by` may come to other bits as well.
    """
    before = [identity for n, identity in rows if n <= after + 1]
    now = before[-1] if before else ""
    if now != by:
        return Foreign(after + 1, now, by)
    return next((Foreign(n, made_by, by) for n, made_by in rows if n > after + 1 and made_by != by), None)


def replaying(
    session: Session,
    entries: Iterable[Entry],
    store: Store,
    marks: Container[int] = (),
    others: Foreign | None = None,
) -> Iterator[int]:
    """Replay `entries` into a fresh session, or one of a snapshot, one at each step, and give it its store at
    the end. `marks`: the entries after which a snapshot was taken. `others`: those that may be answered with
    other bits; the session then says so.

    Memory is refused where the record says so and nowhere else. Raises Damaged where the record has a gap, or
    a frame is answered otherwise than it was, Diverged where that is one of `others` and it has another
    outcome.
    """
    began, again, differing = session.entries, 0, 0
    expected = _Expected()
    account, limit = session.account, session.account.limit
    session.store = expected
    for entry in entries:
        if entry.n != session.entries + 1:
            raise Damaged(f"after entry {session.entries} comes entry {entry.n}")
        account.decided = _refusals(entry, limit)
        account.brim = -1 if account.decided else _NO_LIMIT
        expected.came = None
        try:
            with suppress(Exception):  # one that was answered `internal` raises again
                session.submit(entry.frame)
        finally:
            account.decided, account.brim = None, limit
        _check_memory(session, entry, expected.came)
        if others is None or entry.n < others.first:
            _compare(entry, expected.came)
        else:
            again += 1
            differing += _differs(entry, expected.came)
        session.counts["messages"], session.counts["round_trips"] = entry.messages, entry.round_trips
        if entry.n in marks:
            session.forget()
        yield entry.n
    session.store = store
    if others is not None and again:
        session.restored = Restored(began, again, differing, 0, others.made_by, others.by)


def replay(session: Session, store: Store) -> int:
    """`replaying` all that a store has; how many entries that were."""
    for _ in replaying(session, store.entries(), store):
        pass  # each is an entry
    return session.entries


def _refusals(entry: Entry, limit: int) -> dict[int, BaseException]:
    """What the account has to refuse while the entry is run again, and where the batch is stopped."""
    found: dict[int, BaseException] = {}
    trouble = entry.trouble
    if trouble is None:
        return found
    told, whose, what = trouble.problem, "session", "bytes"
    if told is not None and told.limit is not None:
        limit, whose, what = told.limit, told.whose or whose, told.what or what
    for asked, requested, used in trouble.refused:
        if requested or used:  # nothing was asked for, with nothing in use: the machine's memory
            found[asked] = OutOfQuota(requested, used, limit, whose, what)
        else:
            found[asked] = MemoryError("" if told is None else told.detail)
    if trouble.stopped is not None:
        found[trouble.stopped] = Halted(told)
    return found


def _check_memory(session: Session, entry: Entry, came: Entry | None) -> None:
    """Raise MemoryError where there was none that the record does not know of. The account refuses what it
    knows, and nothing else: this is the machine's, or a device's.
    """
    short = came is not None and came.outcome == "quota-exceeded" != entry.outcome
    if short or (session.fenced is not None and session.fenced.slug == "quota-exceeded"):
        raise MemoryError("there is no memory to make the session from its record")


def _compare(entry: Entry, came: Entry | None) -> None:
    if came is None:
        raise Damaged(f"entry {entry.n} changed the session, and changes nothing when it is replayed")
    if (came.outcome, came.reply, _told(came)) != (entry.outcome, entry.reply, _told(entry)):
        _log.error(
            "replayed entry %d: %r was %r", entry.n, came._replace(frame=b""), entry._replace(frame=b"")
        )
        raise Damaged(
            f"entry {entry.n} was {entry.outcome}; replayed, it is {came.outcome}, with another result"
        )


def _differs(entry: Entry, came: Entry | None) -> bool:
    """Whether an entry that other kernels ran is answered with other bits; Diverged where it comes to
    something else.
    """
    if came is None or came.outcome != entry.outcome:
        now = "changes nothing" if came is None else f"is {came.outcome}"
        raise Diverged(f"entry {entry.n} was {entry.outcome} under other kernels; replayed, it {now}")
    return came.reply != entry.reply


def _told(entry: Entry) -> object:
    return None if entry.trouble is None else entry.trouble.problem
