"""A wire whose replies are taken as they come, by who may not wait: tasks of an event loop."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gradd_protocol import messages as m

from .._exceptions import ConnectionFailed
from .._mirror import Event
from .._transports import Dropped
from .calling_off import tell
from .reading import read_reply
from .wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable


class AttentiveWire(Wire):
    """A `Wire` that can also be looked at without waiting. Callers hold the session's lock."""

    #: whether a connection that is lost while something is sent is left to `mend`
    leaves = False
    #: what mends the connection
    _remedy: Callable[[], None] | None = None
    #: called, by any thread, when a reply was taken otherwise than by `look`
    listeners: tuple[Callable[[], None], ...] = ()

    def look(self) -> bool:
        """Take the replies that have arrived; False where nothing comes before `mend`."""
        if self._stale:
            return False
        try:
            while self.flying and (data := self.transport.receive(False)) is not None:
                self.counts["bytes_received"] += len(data)
                reply, arrays = read_reply(data, self.url)
                if isinstance(reply, m.ProblemReply):
                    self._leave(partial(self._refused, reply.problem))
                    return False
                if isinstance(reply, m.BatchReply):
                    super()._take(reply, arrays)
        except Dropped as e:
            self._leave(partial(self._reconnect, e))
            return False
        except ConnectionFailed as e:  # it cannot be read
            self._leave(partial(_raise, e))
            return False
        return True

    def doubt(self) -> bool:
        """Nothing came for half of the longest silence: probe the daemon; False where it is gone."""
        try:
            self.transport.doubt()
        except Dropped as e:
            self._leave(partial(self._reconnect, e))
        return not self._stale

    def coming(self, told: Callable[[], None]) -> int | None:
        """What tells of the next reply, see Transport.coming; None also where there is none to come."""
        try:
            return self.transport.coming(told)
        except Dropped as e:
            self._leave(partial(self._reconnect, e))
            told()
            return None

    def mend(self) -> None:
        """Connect again, if that is needed, and send again what is unanswered. Waits, as `wait` does."""
        remedy, self._remedy = self._remedy, None
        if self._stale:
            with self.patience():
                (remedy or partial(self._reconnect, Dropped("a wait was interrupted")))()

    def call_off_soon(self) -> bool:
        """Have the session stop what is unanswered, if anything is; who asks does not wait for that."""
        if not self.flying:
            return False
        self._called_off = self.seq
        self._knowledge.on(Event.STOPPED)  # as `_give_up` does
        tell(self.transport, self.writer, self.seq)
        return True

    def drain(self) -> None:
        """See Wire.drain."""
        if self.leaves:
            self.look()
        else:
            super().drain()

    def _take(self, reply: m.BatchReply, arrays: list[Any]) -> None:
        super()._take(reply, arrays)
        self._tell()

    def _end(self, error: Exception) -> None:
        super()._end(error)
        self._tell()

    def _tell(self) -> None:
        for each in self.listeners:
            each()

    def _leave(self, remedy: Callable[[], None]) -> None:
        self._stale, self._remedy = True, remedy

    def _lost_sending(self, why: Dropped) -> None:
        if self.leaves:
            self._leave(partial(self._reconnect, why))
        else:
            self._reconnect(why)


def _raise(error: Exception) -> None:
    raise error
