"""A session where it runs, with its store: made when a frame comes, made again where it has to be."""

from __future__ import annotations

import logging
import sqlite3
from time import perf_counter
from typing import TYPE_CHECKING, Any

import msgspec
from gradd_engine.data import OutOfQuota
from gradd_engine.freezing import CannotFreeze
from gradd_protocol import frames, names
from gradd_protocol import messages as m
from gradd_protocol.messages import Restored
from gradd_protocol.problems import Problem, ProtocolError, problem
from msgspec import UNSET

from ..program import over_quota
from ..session import Foreign, Orders, Session, foreign, replaying, unkept
from ..store import BadSnapshot, Damaged, Diverged, Entry, FileStore
from . import summary
from .asking import answer, open_session
from .budgets import Holding
from .bulk import Bulk
from .envelope import FileOrder
from .meter import Meter, SessionFigures, counts_of
from .place import place_of
from .refusals import recovering, refusal

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Generator, Iterator, Mapping

    from gradd_protocol.frames import Bytes, Part

    from ..session import Order
    from .meter import Figures

_log = logging.getLogger("gradd.runtime")

_NOTHING = Entry(0, b"", "")
_ACQUIRE = frames.join(frames.encode(m.Acquire()))

REPLAY_SECONDS = 1.0
"""Work of entries after which a snapshot is taken, beside `SHARE` times what the latest took to write."""
SHARE = 10.0
RECORD_BYTES = 64 << 20
"""Bytes of entries after which one is taken, if they are as many as the latest has."""


class Hosted:
    """The session `name` of the tenant `owner`. With a ``store`` among its options (see Placement.open) it is
    asleep at first, and `wake` replays what the store has.

    A session that could not keep a record is thrown away, and made again from its store once that can be
    written. A store that is damaged is left as it is, and the session answers with that. `meter` counts what
    it does.
    """

    def __init__(
        self, name: str, options: Mapping[str, Any], backend: Any, meter: Meter | None = None,
        orders: Orders | None = None,
    ) -> None:  # fmt: skip
        self.name, self.owner = name, names.owner(name)
        self._orders = orders or Orders()
        self._meter = meter or Meter()
        self._tenant = self._meter.tenant(self.owner)
        self._holding = Holding(self._meter.budgets, self.owner)
        #: when it answered last, in seconds of `perf_counter`
        self.answered = perf_counter()
        #: batches and entries before the answer that is not settled, and when it began
        self._begun: tuple[int, int, float] | None = None
        #: what the session had done when this process made it again
        self._before: Counter[str] | None = None
        self.session: Session | None = None
        self._options = options
        self._backend = backend
        self._place = place_of(options) if "store" in options else None
        self._recovery: Generator[int] | None = None
        self._refusal: Problem | None = None
        self._damaged = False
        self._store: FileStore | None = None
        #: what is answered next, while it sleeps
        self._told: list[Part] | None = None
        #: since the latest snapshot: seconds that entries took, and their bytes
        self._worked, self._grown = 0.0, 0
        #: how much of either is too much
        self._most, self._room = REPLAY_SECONDS, RECORD_BYTES
        if self._place is None:
            self.session = open_session(name, options, backend)
            self.session.obey(self._orders)

    @property
    def kept(self) -> bool:
        """Whether it outlives this process."""
        return self._place is not None

    def wake(self, frame: Bytes | Bulk | FileOrder = b"") -> bool:
        """Replay one more entry where there is one; True when `frame`, the next, can be answered. One that
        only asks about the session does not wake it.
        """
        self._backend.select()
        if self._recovery is None:
            session = self.session
            if session is not None and session.fenced is None:
                return True
            if self._damaged or self._only_asks(frame) or not self._writable():
                return True
            assert self._place is not None
            try:
                self._holding.expect(self._place.size())
            except OutOfQuota as full:
                self._refusal = over_quota(full, retry_after=1)
                return True
            self._recovery = self._recover()
        try:
            next(self._recovery)
        except StopIteration:
            self._recovery = self._refusal = None
            if self.session is not None:
                self._before = counts_of(self.session)
                self._holding.settle(self.session.account)
            return True
        except Exception as error:
            self._backend.verify()  # a device that has failed says nothing of the record
            self._unmade(error)
            return True
        return False

    def _unmade(self, error: Exception) -> None:
        """The session cannot be made from its record."""
        if isinstance(error, Damaged):
            self._damaged = True
            self._refuse(problem("store-failed", f"{error}. The session's files are kept as they are"), error)
        elif isinstance(error, (OSError, MemoryError, sqlite3.Error)):
            self._refuse(unkept(error), error)
        else:  # a bug, or harm of a kind unheard of: the other sessions go on
            self._damaged = True
            self._refuse(problem("store-failed", "the session cannot be made from its record"), error)

    def _only_asks(self, frame: Bytes | Bulk | FileOrder) -> bool:
        """Whether the session sleeps, and the frame is answered by what it was when it fell asleep."""
        if self.session is not None or self._place is None or isinstance(frame, (Bulk, FileOrder)):
            return False
        try:
            message = frames.decode_request(frame)[0]
        except ProtocolError:
            return False
        if not isinstance(message, m.Info):
            return False
        if (found := summary.read(self._place.path)) is not None:
            self._told = frames.encode(m.SessionReply(msgspec.structs.replace(found.session, asleep=True)))
        elif not message.wake:
            self._told = [recovering(self.name)]
        return self._told is not None

    def _refuse(self, found: Problem, error: Exception) -> None:
        self._recovery, self._refusal = None, found
        _log.error(
            "session %s cannot be made from %s", self.name, self._place and self._place.path, exc_info=error,
            extra={"members": {"session": names.own(self.name), "tenant": names.owner(self.name)}},
        )  # fmt: skip

    def _writable(self) -> bool:
        """Whether to make a session anew whose last change could not be recorded."""
        session = self.session
        if session is None:
            return True
        try:
            session.store.probe()
        except (OSError, sqlite3.Error):
            return False
        return True

    def _recover(self) -> Generator[int]:
        """Make the session from its store, an entry a step."""
        self._let_go()
        place = self._place
        assert place is not None
        place.enter()
        slept = summary.read(place.path)
        summary.drop(place.path)
        store = place.open(self._meter)
        session: Session | None = None
        try:
            marks = store.snapshots()
            session = self._latest(store, marks)
            began, before = session.entries, session.restored
            self._since(0.0, 0)
            own = self._backend.kernels.identity
            others = foreign(began, own, store.kernels())
            try:
                yield from _timed(self, replaying(session, store.entries(began), store, marks, others))
            except Diverged as error:
                session.close()
                session = self._at_snapshot(store, marks, began, others, error)
            store.note(session.entries + 1, own)
        except BaseException:
            store.close()
            if session is not None:
                session.close()
            raise
        if session.entries:
            _log.info(
                "session %s is back: from its snapshot at entry %d, %d entries were replayed",
                self.name, began, session.entries - began,
            )  # fmt: skip
        session.obey(self._orders)
        if slept is not None and slept.entries == session.entries:
            # What only read is in no entry.
            session.counts["messages"], session.counts["round_trips"] = (
                slept.session.messages,
                slept.session.round_trips,
            )
        self.session, self._store = session, store
        if session.restored is not UNSET and session.restored is not before:
            self._tell_restored(session.restored)
            self.snapshot()  # what it is from here on does not depend on these kernels

    def _at_snapshot(
        self, store: FileStore, marks: list[int], n: int, others: Foreign | None, error: Diverged
    ) -> Session:
        """The session at entry `n`, in a new epoch: what came after cannot be run by the kernels that are
        here. Raises Damaged where there is no snapshot at all: nobody wants to begin anew.
        """
        assert others is not None
        if not n:
            raise error
        session = self._latest(store, [mark for mark in marks if mark <= n])
        lost = store.cut(n)
        store.note(n + 1, others.by)
        session.store = store
        session.restored = Restored(n, 0, 0, lost, others.made_by, others.by)
        session.submit(_ACQUIRE)
        _log.error("session %s: %d entries are lost", self.name, lost, exc_info=error)
        return session

    def _tell_restored(self, told: Restored) -> None:
        _log.warning(
            "session %s was run by other kernels, %s: from its snapshot at entry %d, %d entries were run "
            "again, %d with other bits, and %d are lost",
            self.name, told.made_by or "it is not known which", told.snapshot, told.entries, told.differing,
            told.lost, extra={"members": {"session": names.own(self.name), **msgspec.structs.asdict(told)}},
        )  # fmt: skip

    def _latest(self, store: FileStore, marks: list[int]) -> Session:
        """The session at its latest snapshot that is sound, or at its beginning. Raises Damaged."""
        lost: Exception | None = None
        for n in marks:
            try:
                with store.snapshot(n) as file:
                    limit = self._options.get("quota_bytes")
                    own = names.own(self.name)
                    session = Session.thaw(file, name=own, limit=limit, backend=self._backend)
                if session.entries != n:
                    session.close()
                    raise BadSnapshot(f"it is of entry {session.entries}")
                return session
            except (BadSnapshot, Damaged) as error:
                lost = error
                _log.error("session %s: its snapshot at entry %d is damaged", self.name, n, exc_info=error)
        if lost is not None and next(iter(store.entries()), _NOTHING).n != 1:
            raise Damaged(f"no snapshot is sound, and entries before the oldest are gone: {lost}") from lost
        return open_session(self.name, self._options, self._backend)

    # -- snapshots -----------------------------------------------------------------------------------

    @property
    def due(self) -> bool:
        """Whether so much was recorded since the latest snapshot that another is to be taken."""
        return self._worked > self._most or self._grown > self._room

    def snapshot(self) -> bool:
        """Write a snapshot, and drop what it stands for from the record; False where that cannot be now: a
        pass is under way, or there is no room. To be called between two frames.
        """
        session, store = self.session, self._store
        if session is None or store is None or session.fenced is not None or not session.entries:
            return False
        began = perf_counter()
        try:
            parts = session.freeze()
            store.write(parts, session.entries)
        except (CannotFreeze, OSError) as error:
            _log.info("session %s: no snapshot can be taken now: %s", self.name, error)
            self._most, self._room = 2 * self._most, 2 * self._room
            return False
        size = frames.size(parts)
        del parts
        try:
            store.stand_at(session.entries, size)
        except (OSError, sqlite3.Error) as error:
            # Whether a session that is made again begins here nobody knows: this one may not go on.
            session.fenced = unkept(error)
            return False
        session.forget()
        try:
            store.compact()
        except (OSError, sqlite3.Error) as error:
            _log.warning("session %s: what it no longer needs stays for now: %s", self.name, error)
        self._since(perf_counter() - began, size)
        return True

    def _since(self, seconds: float, size: int) -> None:
        """Count from a snapshot that took so long, and has so many bytes."""
        self._worked, self._grown = 0.0, 0
        self._most, self._room = REPLAY_SECONDS + SHARE * seconds, max(RECORD_BYTES, size)

    def spare(self) -> None:
        """Memory runs out: let go of plans. A session that is kept has to run again as it ran, so it keeps
        them; so does the one that runs.
        """
        if self.session is not None and not self.kept and self._begun is None:
            self.session.forget()

    def stop(self, order: Order) -> None:
        """From any thread: stop the batches of which the order speaks."""
        self._orders.give(order)

    def sleep(self) -> bool:
        """Take a snapshot if anything was recorded since the latest, and let go of everything until it is
        woken; False where that cannot be now. To be called between two frames.
        """
        session = self.session
        if session is None or self._place is None or session.fenced is not None:
            return False
        most, room = self._most, self._room
        if self._worked and not self.snapshot():
            self._most, self._room = most, room
            return False
        slept = summary.Summary(session.entries, session.info())
        del session
        self._let_go()
        summary.write(self._place.path, slept)
        return True

    def next(self, number: int) -> None:
        """The frame that is answered next has this number, which is higher than the last one's."""
        self._orders.request(number)

    def answer(self, frame: Bytes) -> list[Part]:
        """`begin_answer`, and `settle`."""
        parts = self.begin_answer(frame)
        self.settle(len(frame))
        return parts

    def begin_answer(self, frame: Bytes) -> list[Part]:
        """The session's reply frame, see `answer`. To be called when it is awake. What it came to is counted
        by `settle`, before the next frame: whoever waits for the reply need not wait for that.
        """
        if self._told is not None:
            told, self._told = self._told, None
            return told
        if self._refusal is not None:
            return [refusal(ProtocolError(self._refusal))]
        session = self.session
        assert session is not None
        self._begun = session.counts["batches"], session.entries, perf_counter()
        self._holding.confine(session.account)
        parts = answer(session, frame)
        self._backend.verify()  # nobody is answered with what is left of it
        self.answered = perf_counter()
        return parts

    def settle(self, size: int) -> None:
        """Count what the answer to a frame of so many bytes came to."""
        session = self.session
        if self._begun is None or session is None:
            return
        (before, entries, began), self._begun = self._begun, None
        self._holding.settle(session.account)
        took, batches = self.answered - began, session.counts["batches"]
        self._meter.ran(self._tenant, batches - before, took)
        if batches >= session.memory.due:
            session.memory.note(session, self.answered)
        if self._store is not None and session.entries != entries:
            self._worked += took
            self._grown += size

    def _done(self, session: Session) -> Counter[str]:
        """What the session has done in this process."""
        counts = counts_of(session)
        if self._before is not None:
            counts.subtract(self._before)
        return counts

    def figures(self) -> SessionFigures | None:
        """The session, if it is awake."""
        session = self.session
        if session is None:
            return None
        idle = perf_counter() - self.answered
        return SessionFigures(
            self.name, len(session.table), session.account.held, idle, dict(self._done(session))
        )

    def tell(self, figures: Figures) -> None:
        """Add this session to the figures of its process."""
        session = self.session
        self._tenant.sessions += 1
        if self._recovery is not None:
            figures.sessions["recovering"] += 1
        elif self._refusal is not None or (session is not None and session.fenced is not None):
            figures.sessions["refused"] += 1
        else:
            figures.sessions["asleep" if session is None else "awake"] += 1
        if session is None:
            return
        for name, count in self._done(session).items():
            figures.counts[name] = figures.counts.get(name, 0) + count
        held = session.account.held
        self._tenant.bytes += held
        figures.bytes += held
        figures.quota += session.account.limit
        figures.tensors += len(session.table)

    def close(self) -> None:
        """Let go of everything; the store stays as it is."""
        if self._recovery is not None:
            self._recovery.close()
            self._recovery = None
        self._let_go()

    def _let_go(self) -> None:
        session, self.session = self.session, None
        self._store = None
        if session is not None:
            self._meter.past.update(self._done(session))
            session.store.close()
            session.close()
            self._holding.drop()


def _timed(hosted: Hosted, steps: Iterator[int]) -> Iterator[int]:
    """The steps of a replay; what they take is work that the next waking would repeat."""
    began = perf_counter()
    for n in steps:
        hosted._worked += perf_counter() - began
        yield n
        began = perf_counter()
