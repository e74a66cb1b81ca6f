"""A session where it runs, with its store: made when a frame comes, made again where it has to be."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradd_engine.data import SEED
from gradd_protocol import names
from gradd_protocol.problems import Problem, ProtocolError, problem

from ..session import Session, replaying, unkept
from ..store import Damaged, SqliteStore
from .refusals import refusal

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from gradd_protocol.frames import Bytes, Part

    from ..store import Store

_log = logging.getLogger("gradd.runtime")


class Hosted:
    """The session `name`. With a ``store`` among its options (see Placement.open) it is asleep at first, and
    `wake` replays what the store has.

    A session that could not keep a record is thrown away, and made again from its store once that can be
    written. A store that is damaged is left as it is, and the session answers with that.
    """

    def __init__(self, name: str, options: Mapping[str, Any], backend: Any) -> None:
        self.name = name
        self.session: Session | None = None
        self._options = options
        self._backend = backend
        self._path = Path(options["store"]) if "store" in options else None
        self._recovery: Generator[int] | None = None
        self._refusal: Problem | None = None
        self._damaged = False
        if self._path is None:
            self.session = open_session(name, options, backend)

    @property
    def kept(self) -> bool:
        """Whether it outlives this process."""
        return self._path is not None

    def wake(self) -> bool:
        """Replay one more entry where there is one; True when frames can be answered."""
        if self._recovery is None:
            session = self.session
            if (session is not None and session.fenced is None) or self._damaged or not self._writable():
                return True
            self._recovery = self._recover()
        try:
            next(self._recovery)
        except StopIteration:
            self._recovery = self._refusal = None
            return True
        except Damaged as error:
            self._damaged = True
            self._refuse(problem("store-failed", f"{error}. The session's files are kept as they are"), error)
            return True
        except (OSError, MemoryError, sqlite3.Error) as error:
            self._refuse(unkept(error), error)
            return True
        except Exception as error:  # a bug, or harm of a kind unheard of: the other sessions go on
            self._damaged = True
            self._refuse(problem("store-failed", "the session cannot be made from its record"), error)
            return True
        return False

    def _refuse(self, found: Problem, error: Exception) -> None:
        self._recovery, self._refusal = None, found
        _log.error("session %s cannot be made from %s", self.name, self._path, exc_info=error)

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
        assert self._path is not None
        if not self._path.exists():
            raise Damaged("the session's record is gone")
        session = open_session(self.name, self._options, self._backend)
        store = SqliteStore(self._path, self._options["durability"])
        try:
            yield from replaying(session, store.entries(), store)
        except BaseException:
            store.close()
            session.close()
            raise
        if session.entries:
            _log.info("session %s is back: %d entries were replayed", self.name, session.entries)
        self.session = session

    def answer(self, frame: Bytes) -> list[Part]:
        """The session's reply frame, see `answer`. To be called when it is awake."""
        if self._refusal is not None:
            return [refusal(ProtocolError(self._refusal))]
        assert self.session is not None
        return answer(self.session, frame)

    def close(self) -> None:
        """Let go of everything; the store stays as it is."""
        if self._recovery is not None:
            self._recovery.close()
            self._recovery = None
        self._let_go()

    def _let_go(self) -> None:
        session, self.session = self.session, None
        if session is not None:
            session.store.close()
            session.close()


def open_session(name: str, options: Mapping[str, Any], backend: Any, store: Store | None = None) -> Session:
    """A new session; options as in Placement.open."""
    limit = {"limit": options["quota_bytes"]} if "quota_bytes" in options else {}
    seed, epoch = options.get("seed", SEED), options.get("epoch", 1)
    return Session(names.own(name), seed=seed, backend=backend, store=store, epoch=epoch, **limit)


def answer(session: Session, frame: Bytes) -> list[Part]:
    """The session's reply frame, as from `Session.answer`; if the engine has a bug, a problem without
    details.
    """
    try:
        return session.answer(frame)
    except Exception:
        _log.exception("session %s failed on a frame", session.name)
        return [refusal(ProtocolError.of("internal", "the engine failed on this request"))]
