"""Takes the replies of a session as they come, for tasks of an event loop that wait for them.

Nothing here waits but the tasks: the loop is told when a reply may be there, and takes what has arrived.
Where the connection has to be mended, a thread does it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from .._exceptions import GraddError, TimedOut, copy_of
from .._transports import silence
from .._wire import TELLING
from .modes import Aside
from .threads import start

if TYPE_CHECKING:
    import threading
    from asyncio import AbstractEventLoop, Future, TimerHandle
    from collections.abc import Callable

    from .._wire import AttentiveWire

#: how soon to look again after another thread that uses the session (s)
_SOON = 0.01


class PumpHost(Protocol):
    """What a pump needs of its session."""

    lock: threading.RLock
    wire: AttentiveWire


class Pump:
    """Of one session in one event loop; only used there."""

    def __init__(self, host: PumpHost, loop: AbstractEventLoop) -> None:
        self._host, self._loop = host, loop
        #: who waits, and for what
        self._waiting: dict[Future[None], Callable[[], bool]] = {}
        #: a descriptor of the connection, while the loop watches it
        self._watched: int | None = None
        self._mending = False
        #: when something came for the last time
        self._heard = 0.0
        self._again: TimerHandle | None = None
        self._doubts: TimerHandle | None = None
        self._doubt_after = silence() / 2

    async def until(self, done: Callable[[], bool]) -> None:
        """Wait until `done()`, which a reply makes true. Where the task is cancelled, or the session's
        timeout is over (TimedOut), what is unanswered is called off, unless other tasks wait for it. Raises
        ConnectionFailed.
        """
        import asyncio

        wire = self._host.wire
        waiter = self._begin(done)
        try:
            self._look()
            if not waiter.done():
                with Aside(self._loop):
                    async with asyncio.timeout(wire.timeout):
                        await waiter
            waiter.result()
        except TimeoutError as e:
            if isinstance(e, GraddError):
                raise
            off = await self._call_off()
            what = ": what was sent and is unanswered was called off" if off else ""
            raise TimedOut(f"no answer within {wire.timeout:g} s{what}") from None
        except asyncio.CancelledError:
            await self._call_off()
            raise
        finally:
            self._end(waiter)
            del waiter  # it may have an error, whose traceback has this frame

    def _begin(self, done: Callable[[], bool]) -> Future[None]:
        if not self._waiting:
            self._host.wire.listeners += (self._told,)
            self._heard = self._loop.time()
            self._doubts = self._loop.call_later(self._doubt_after, self._doubt)
        waiter: Future[None] = self._loop.create_future()
        self._waiting[waiter] = done
        return waiter

    def _end(self, waiter: Future[None]) -> None:
        del self._waiting[waiter]
        if self._waiting:
            return
        self._unwatch()
        wire = self._host.wire
        wire.listeners = tuple(each for each in wire.listeners if each != self._told)
        for timer in (self._doubts, self._again):
            if timer is not None:
                timer.cancel()
        self._doubts = self._again = None

    async def _call_off(self) -> bool:
        """Have the session stop what is unanswered, and wait for that, for a moment only; False if other
        tasks wait for it, or nothing is unanswered.
        """
        import asyncio

        wire = self._host.wire
        if len(self._waiting) > 1 or not wire.call_off_soon():
            return False
        stopped = self._begin(lambda: not wire.flying)
        try:
            self._look()
            with Aside(self._loop):
                await asyncio.wait([stopped], timeout=TELLING)
        finally:
            if stopped.done() and not stopped.cancelled():
                stopped.exception()  # it is the next one's to raise
            self._end(stopped)
        return True

    # -- in the loop, outside of tasks ---------------------------------------------------------------

    def _look(self) -> None:
        """Take what has arrived, wake who waited for it, and see to it that the rest is told."""
        if self._mending or not self._waiting:
            return
        lock: Any = self._host.lock
        if not lock.acquire(blocking=False):  # another thread takes the replies
            self._unwatch()
            if self._again is None:
                self._again = self._loop.call_later(_SOON, self._look_again)
            return
        try:
            fine = self._host.wire.look()
            self._wake()
            if fine and any(not waiter.done() for waiter in self._waiting):
                self._watch()
        finally:
            lock.release()
        if not fine:
            self._mend()

    def _look_again(self) -> None:
        self._again = None
        self._look()

    def _arrived(self) -> None:
        self._heard = self._loop.time()
        self._look()

    def _wake(self) -> None:
        for waiter, done in self._waiting.items():
            if not waiter.done() and done():
                waiter.set_result(None)

    def _told(self) -> None:
        """By any thread: replies were taken, or came."""
        with suppress(RuntimeError):  # the loop was closed
            self._loop.call_soon_threadsafe(self._arrived)

    def _watch(self) -> None:
        if self._watched is None:
            self._watched = self._host.wire.coming(self._told)
            if self._watched is not None:
                self._loop.add_reader(self._watched, self._arrived)
                self._loop.call_soon(self._look)  # something may have come meanwhile

    def _unwatch(self) -> None:
        if self._watched is not None:
            self._loop.remove_reader(self._watched)
            os.close(self._watched)
            self._watched = None

    def _doubt(self) -> None:
        """Nothing may have come for long."""
        rest = self._heard + self._doubt_after - self._loop.time()
        if rest <= 0:
            rest = self._doubt_after
            lock: Any = self._host.lock
            if not self._mending and lock.acquire(blocking=False):
                try:
                    there = self._host.wire.doubt()
                finally:
                    lock.release()
                if not there:
                    self._mend()
        self._doubts = self._loop.call_later(rest, self._doubt)

    def _mend(self) -> None:
        if self._mending:
            return
        self._mending = True
        self._unwatch()
        host = self._host

        def mend() -> None:
            with host.lock:
                host.wire.mend()

        start(self._loop, mend, self._mended)

    def _mended(self, _: None, error: Exception | None) -> None:
        self._mending = False
        if error is None:
            self._arrived()
            return
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_exception(copy_of(error))
