"""Snapshots by hand: a session is written to a file, or begins at one, between two of its frames."""

from __future__ import annotations

import logging
import sqlite3
from typing import TYPE_CHECKING, Any

from gradd_engine.data import OutOfQuota
from gradd_engine.freezing import CannotFreeze
from gradd_protocol import frames
from gradd_protocol.messages import SessionReply
from gradd_protocol.problems import ProtocolError

from ..program import over_quota
from ..session import Session, unkept
from ..store import BadSnapshot, reading, writing
from .meter import counts_of
from .refusals import refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradd_protocol.frames import Part

    from .envelope import FileOrder
    from .hosting import Hosted

_log = logging.getLogger("gradd.runtime")


def obey(hosted: Hosted, order: FileOrder) -> list[Part]:
    """The reply frame to an order. To be called when the session is awake."""
    if hosted._refusal is not None:
        return [refusal(ProtocolError(hosted._refusal))]
    session = hosted.session
    assert session is not None
    try:
        if order.save:
            save(session, order.path)
        else:
            session = _begin(hosted, session, order.path)
    except ProtocolError as refused:
        return [refusal(refused)]
    except Exception:
        hosted._backend.verify()
        _log.exception("session %s failed on a snapshot", session.name)
        return [refusal(ProtocolError.of("internal", "the engine failed on this request"))]
    return frames.encode(SessionReply(session.info()), [])


def _begin(hosted: Hosted, old: Session, path: str) -> Session:
    """Be the snapshot at the place `path`, in place of a session that has done nothing yet."""
    if old.entries:
        raise ProtocolError.of("session-exists", f"session {old.name!r} has begun already")
    session = begun(path, old, hosted._options, hosted._holding.room, hosted._backend)
    store = hosted._store
    if store is not None:
        parts = session.freeze()
        try:
            store.write(parts, session.entries)
            store.stand_at(session.entries, frames.size(parts))
        except (OSError, sqlite3.Error) as error:
            session.close()
            raise ProtocolError(unkept(error)) from None
    hosted.session, hosted._before = session, counts_of(session)
    old.close()
    session.obey(hosted._orders)
    hosted._holding.settle(session.account)
    return session


def save(session: Session, path: str) -> None:
    """Write what the session's names hold. Raises ProtocolError, and leaves no file then."""
    if session.fenced is not None:
        raise ProtocolError(session.fenced)
    try:
        parts = session.freeze(alone=True)
        with writing(path) as file:
            for part in parts:
                file.write(part)
    except CannotFreeze as error:
        raise ProtocolError.of(
            "session-busy", f"no snapshot can be taken now: {error.reason}", retry_after=1
        ) from None
    except OSError as error:
        _log.error("session %s: no snapshot can be written", session.name, exc_info=error)
        raise ProtocolError(unkept(error)) from None


def begun(path: str, old: Session, options: Mapping[str, Any], room: int, backend: Any) -> Session:
    """A session that begins at a snapshot, in place of the `old` one that is new, and takes no more than
    `room`. Raises ProtocolError.
    """
    limit, epoch = old.account.limit, options.get("epoch", 1)
    try:
        with reading(path) as file:
            return Session.fork(
                file, old.name, limit=limit, room=room, epoch=epoch, store=old.store, backend=backend
            )
    except BadSnapshot as error:
        raise ProtocolError.of("invalid-snapshot", str(error)[:1000]) from None
    except OutOfQuota as error:
        raise ProtocolError(over_quota(error)) from None
    except MemoryError:
        raise ProtocolError.of("quota-exceeded", "the machine has no room for the snapshot") from None
    except OSError as error:
        _log.error("session %s: a snapshot cannot be read", old.name, exc_info=error)
        raise ProtocolError(unkept(error)) from None
