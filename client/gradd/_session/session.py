"""`Session`: its state and counts, and its life from connecting to closing."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from gradd_engine.data import Device
from gradd_protocol import messages as m

from .._exceptions import ConnectionFailed, GraddError, SessionClosed
from .._mirror import Event, MirrorBackend
from .._program import Builder
from .._tensor import Tensor, acquaint
from .._transports import CLOSE, Dropped
from .awaiting import Awaiting
from .curves import Curving
from .graph import graph_of
from .listening import Listening
from .naming import Naming
from .overview import html_of
from .profile import Profile
from .registry import Registry

if TYPE_CHECKING:
    import os
    from collections.abc import Callable


class Session(Listening, Awaiting, Naming, Curving):
    """A session, created by `gradd.connect`; as a context manager it makes itself current."""

    def __init__(
        self, url: str, name: str | None, transport: str = "stream", token: str | None = None,
        reconnect: float | None = None, timeout: float | None = None, device: str | None = None,
    ) -> None:  # fmt: skip
        acquaint()
        self.backend = MirrorBackend(self, Tensor, self)
        super().__init__(url, name, transport, token, reconnect, timeout, device)
        if isinstance(self.wire.info.device, str):
            # whichever it is of the daemon's, it is the only one that the session has
            self.backend.device = Device(self.wire.info.device, 0)
        SESSIONS.add(self)

    # -- state -------------------------------------------------------------------------------------

    def tensors(self) -> list[m.TensorInfo]:
        """The server's state of all tensors of the session."""
        with self.lock:
            self.flush()
            reply, _ = self.wire.request(m.ListTensors())
        assert isinstance(reply, m.Tensors)
        return reply.tensors

    def info(self) -> m.SessionInfo:
        """The server's state of the session, with its counts."""
        with self.lock:
            self.flush()
            reply, _ = self.wire.request(m.Info())
        assert isinstance(reply, m.SessionReply)
        return reply.session

    def stats(self) -> dict[str, int]:
        """Counts since connecting: batches, steps, bytes, round_trips (messages whose reply was awaited).

        The server counts a round trip for each message that requests something (`info()`); waiting, as in
        `flush()`, counts only here.
        """
        return dict(self.wire.counts)

    def snapshot(self, path: str | os.PathLike[str] | None = None) -> m.SnapshotInfo:
        """Take a snapshot of what the session's names hold: tensors, their gradients and graphs, hooks, the
        random stream. The daemon keeps it until it or the session is deleted; with `path` it is a file here
        instead, plain safetensors. `gradd.connect(..., from_snapshot=)` begins a session there.
        """
        with self.lock:
            self.flush()
            file = None if path is None else Path(path)
            taken: m.SnapshotInfo = self.wire.ask(
                lambda t: t.snapshots.take() if file is None else t.snapshots.save(file)
            )
        return taken

    def snapshots(self) -> list[m.SnapshotInfo]:
        """The snapshots of the session that the daemon keeps, the latest first."""
        with self.lock:
            self.ready()
            found: list[m.SnapshotInfo] = self.wire.ask(lambda transport: transport.snapshots.all())
        return found

    def delete_snapshot(self, id: str) -> None:
        """Delete a snapshot that the daemon keeps; not an error if there is none."""
        with self.lock:
            self.ready()
            self.wire.ask(lambda transport: transport.snapshots.delete(id))

    def profile(self) -> Profile:
        """Measure the session from now on: ``with session.profile() as p: ...; print(p)``."""
        with self.lock:
            self.ready()
            return Profile(self)

    def clear(self) -> None:
        """Drop all tensors of this client; the session remains."""
        with self.lock:
            self.ready().flush()
            for i, t in list(self.live.items()):
                self.wire.dead.append(i)
                t._id, t._fetch, t._lost = None, None, GraddError("the session was cleared")
            self.live.clear()
            self.flush()

    def acquire(self) -> None:
        """Become the session's only writer: what other clients send from here on is refused (SessionLost
        there). What they bound to names stays.
        """
        with self.lock:
            self.flush()
            self.wire.acquire()
            self.outbox.begin_anew()
            # The session knows its tensors by the ids that their writers gave.
            for i, t in list(self.live.items()):
                self.live.pop(i)
                t._id = t._fetch = None
                self.recorder().adopt(i, t)
                self.wire.dead.append(i)
            self.knowledge.on(Event.OTHERS_WROTE)
            self.flush()

    def cancel(self) -> None:
        """Stop what this client has sent and the session has not done: between two steps, or where a step
        takes memory. To be called by another thread than the one that waits for it, which gets ServerError
        (`cancelled`). Ctrl-C does so by itself. Raises ConnectionFailed.
        """
        if self._closed:
            raise SessionClosed(f"the session {self._name!r} is closed")
        try:
            self.wire.transport.cancel(self.wire.writer, self.wire.seq)
        except Dropped as e:
            raise ConnectionFailed(f"the daemon at {self.url} could not be told to stop: {e}") from e

    # -- life --------------------------------------------------------------------------------------

    graph = graph_of
    _repr_html_ = html_of

    def __enter__(self) -> Session:
        self.ready()
        self.enter()
        return self

    def enter(self) -> None:
        """Make it the current session of this thread, or task."""
        SESSIONS.enter(self)

    def leave(self) -> None:
        """Undo the last `enter`, if there is one."""
        SESSIONS.leave(self)

    def __exit__(self, *exc: object) -> None:
        self.leave()
        try:
            if exc[0] is KeyboardInterrupt and self.wire.busy:
                self.abandon()
            else:
                self.close()
        except Exception as e:
            if exc[0] is None:
                raise
            print(f"gradd: closing {self._name}: {e}", file=sys.stderr)

    def close(self) -> None:
        """Send what is left, raise an unseen error, disconnect; an anonymous session ends.

        A named session remains, with its named tensors; tensors only held by this client are freed. A daemon
        that is away is tried for a few seconds: then ConnectionFailed, and what was not sent is dropped.
        """
        self.wire.presence.hurry.begin()  # also who waits with the lock
        with self.lock:
            if self._closed:
                return
            wire = self.wire
            try:
                if not self._forked:
                    for recorder in self.recorders:
                        recorder.flush()
                    if not self._ends_session and wire.ended is None:
                        for recorder in self.recorders:
                            if recorder.ahead is not None:
                                recorder.ahead.send()  # else the session would hold the bytes
                        wire.dead.extend(self.live)
                        self.send(Builder(), [])
                    wire.wait_all()
            finally:
                self._closed = True
                for recorder in self.recorders:
                    recorder.trail.leave()
                if not self._forked:
                    wire.disconnect(self._ends_session)
                SESSIONS.closed(self)
            if wire.unseen is not None and not (self._forked or wire.called_off):
                raise wire.saw()

    def abandon(self) -> None:
        """Disconnect without waiting, even for the lock, and drop what was not sent. Used after Ctrl-C."""
        if not self._closed:
            self._closed = True
            if not self._forked:
                self.wire.disconnect(self._ends_session, CLOSE)
            SESSIONS.closed(self)

    def before_fork(self) -> None:
        """Send what is recorded, for the child too; keeps the lock until the fork is done."""
        self.lock.acquire()
        self._shares = True
        self.stream.share()
        if not (self._closed or self._forked):
            for recorder in self.recorders:
                recorder.flush()
                if recorder.ahead is not None:
                    recorder.ahead.send()
            self.wire.wait_all()

    def forked(self) -> None:
        """In a forked child, which is not a writer yet. Only the parent frees the parent's tensors."""
        self.lock = threading.RLock()
        self._forked = not self._closed
        self._ends_session = False

    def lend(self) -> Callable[[], None]:
        """Returns a function that lets another thread record like this one, which waits for it meanwhile."""
        recorder, entered = self.recorder(), SESSIONS.entered()

        def begin() -> None:
            self._thread.recorder = recorder
            for each in entered:
                SESSIONS.enter(each)

        return begin


#: the sessions of this process
SESSIONS: Registry[Session] = Registry()
