"""`Session`: what it says of itself, and its life from connecting to its end."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

from gradd_protocol import messages as m

from .._exceptions import GraddError
from .._mirror import MirrorBackend
from .._program import Builder
from .._tensor import Tensor
from .._transports import CLOSE
from .graph import graph_of
from .listening import Listening
from .naming import Naming
from .profile import Profile
from .registry import Registry
from .values import Fetching

if TYPE_CHECKING:
    from collections.abc import Callable


class Session(Listening, Fetching, Naming):
    """A session as the SDK sees it. Made by `gradd.connect`; also a context manager that makes it current."""

    def __init__(
        self, url: str, name: str | None, transport: str = "stream", token: str | None = None
    ) -> None:
        self.backend = MirrorBackend(self, Tensor, self)
        super().__init__(url, name, transport, token)
        SESSIONS.add(self)

    # -- what there is -----------------------------------------------------------------------------

    def tensors(self) -> list[m.TensorInfo]:
        """What the server has: one entry a tensor of the session."""
        with self.lock:
            self.flush()
            reply, _ = self.wire.request(m.ListTensors())
        assert isinstance(reply, m.Tensors)
        return reply.tensors

    def info(self) -> m.SessionInfo:
        """What the server says of the session, its own counts among it."""
        with self.lock:
            self.flush()
            reply, _ = self.wire.request(m.Info())
        assert isinstance(reply, m.SessionReply)
        return reply.session

    def stats(self) -> dict[str, int]:
        """Counts since connecting: batches, steps, bytes, round_trips (messages whose reply was waited for).

        The server counts a round trip for each message that asks for something (`info()`); a mere wait, as in
        `flush()`, counts here only.
        """
        return dict(self.wire.counts)

    def profile(self) -> Profile:
        """Measure what the session does from here on: ``with session.profile() as p: ...; print(p)``."""
        with self.lock:
            self.ready()
            return Profile(self)

    def clear(self) -> None:
        """Drop all tensors of this client; the session goes on."""
        with self.lock:
            self.ready()
            self.recorder().flush()
            for i, t in list(self.live.items()):
                self.wire.dead.append(i)
                t._id, t._fetch, t._lost = None, None, GraddError("the session was cleared")
            self.live.clear()
            self.flush()

    # -- life --------------------------------------------------------------------------------------

    graph = graph_of

    def __enter__(self) -> Session:
        self.ready()
        SESSIONS.enter(self)
        return self

    def __exit__(self, *exc: object) -> None:
        SESSIONS.leave(self)
        try:
            if exc[0] is KeyboardInterrupt and self.wire.busy:
                self.abandon()
            else:
                self.close()
        except Exception as e:
            if exc[0] is None:
                raise
            print(f"gradd: closing {self.name}: {e}", file=sys.stderr)

    def close(self) -> None:
        """Send what is left, raise an error nobody saw, disconnect; an anonymous session ends.

        A named session goes on, with what has a name; what only this client held is freed.
        """
        with self.lock:
            if self._closed:
                return
            wire = self.wire
            try:
                if not self._forked:
                    for recorder in self.recorders:
                        recorder.flush()
                    if not self._ends_session and wire.ended is None:
                        wire.dead.extend(self.live)
                        self.send(Builder(), [])
                    wire.wait_all()
            finally:
                self._closed = True
                if not self._forked:
                    wire.disconnect(self._ends_session)
                SESSIONS.closed(self)
            if wire.unseen is not None and not self._forked:
                raise wire.saw()

    def abandon(self) -> None:
        """Disconnect and wait for nothing, nor for the lock; what was not sent is dropped. Ctrl-C ends so."""
        if not self._closed:
            self._closed = True
            if not self._forked:
                self.wire.disconnect(self._ends_session, CLOSE)
            SESSIONS.closed(self)

    def before_fork(self) -> None:
        """Send what is recorded, so that the child finds it; keeps the lock until the fork is done."""
        self.lock.acquire()
        self._shares = True
        if not (self._closed or self._forked):
            for recorder in self.recorders:
                recorder.flush()
            self.wire.wait_all()

    def forked(self) -> None:
        """In a forked child: this process is not yet a writer. The parent's tensors stay the parent's to
        free.
        """
        self.lock = threading.RLock()
        self._forked = not self._closed
        self._ends_session = False

    def lend(self) -> Callable[[], None]:
        """What lets another thread record as this one does, called there while this one waits for it."""
        recorder, entered = self.recorder(), SESSIONS.entered()

        def begin() -> None:
            self._thread.recorder = recorder
            for each in entered:
                SESSIONS.enter(each)

        return begin


#: those of this process
SESSIONS: Registry[Session] = Registry()
