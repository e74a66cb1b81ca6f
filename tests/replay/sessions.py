"""One session for all repetitions of a body: what it connects to and closes is, the next time, the same
anonymous `local:` session again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from gradd._mirror import Event
from gradd._program import Builder
from gradd._session import Session, connecting
from gradd._session.session import SESSIONS
from gradd_protocol import messages as m


class Reuse:
    """The sessions of a body, in the order in which it connected."""

    def __init__(self) -> None:
        self.active = False
        self.sessions: list[Session] = []
        self._next = 0

    def begin(self) -> None:
        """A repetition begins."""
        self.active = True
        self._next = 0

    def end(self) -> None:
        """The body is done with: its sessions end."""
        self.active = False
        for session in self.sessions:
            session._closed = False
            try:
                session.close()
            except Exception:  # what went wrong was told, or is looked for elsewhere
                session._closed = True
        self.sessions.clear()

    def connect(self, *how: Any) -> Session | None:
        """The session that the body had at this point of its first repetition."""
        url, name, *_ = how
        if not self.active or name is not None or not url.startswith("local:"):
            return None
        place, self._next = self._next, self._next + 1
        if place < len(self.sessions):
            session = self.sessions[place]
            if session._closed and session.wire.ended is None and not session._forked:
                session._closed = False
                SESSIONS.add(session)
                return session
            session = self.sessions[place] = Session(*how)
            return session
        self.sessions.append(Session(*how))
        return self.sessions[-1]

    def close(self, session: Session) -> bool:
        """As far as the body can tell the session is closed; whether it is one of these."""
        if not self.active or session not in self.sessions or session._forked:
            return False
        with session.lock:
            if session._closed:
                return True
            try:
                _settle(session)
            finally:
                session._closed = True
                SESSIONS.closed(session)
            if session.wire.unseen is not None:
                # The mirror is in doubt after an error, whoever sees it.
                session.knowledge.on(Event.FAILED)
                raise session.wire.saw()
        return True


def _settle(session: Session) -> None:
    """Send what is left and leave no names behind."""
    wire = session.wire
    for recorder in session.recorders:
        recorder.flush()
    if session._shares and wire.ended is None:
        listed, _ = wire.request(m.ListTensors())
        assert isinstance(listed, m.Tensors)
        named = [t.name for t in listed.tensors if t.name is not None]
        session.send(Builder(), [], unbind=named)
        session.named.clear()
        session._shares = False
    wire.wait_all()


@contextmanager
def reusing() -> Iterator[Reuse]:
    """Let `gradd.connect` give a body its sessions again."""
    reuse = Reuse()
    close = Session.close

    def connected(*how: Any) -> Session:
        return reuse.connect(*how) or Session(*how)

    def closed(self: Session) -> None:
        if not reuse.close(self):
            close(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connecting, "Session", connected)
        patch.setattr(Session, "close", closed)
        yield reuse
