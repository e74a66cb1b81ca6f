"""The session in an event loop: what waits elsewhere is awaited here."""

from __future__ import annotations

import sys
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .._exceptions import SessionClosed
from .._program import part_of
from .._wire import Known
from .pump import Pump
from .threads import in_thread, start
from .values import Fetching

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable

    from gradd_protocol import messages as m

T = TypeVar("T")


class Awaiting(Fetching):
    """A session that tasks of event loops wait for."""

    _pumps: weakref.WeakKeyDictionary[AbstractEventLoop, Pump] | None = None

    async def aread(self, t: Any) -> np.ndarray[Any, Any]:
        """The values that a tensor has now; see `read`."""
        await self._settle()
        await self._turn()
        try:
            near, whole, found = self.begin_read(t)
        finally:
            self.lock.release()
        if near is not None:
            return near
        assert found is not None
        if isinstance(found, Known):
            return np.asarray(found.array)
        fetch, sent = found, found.sent
        if not sent.counted:
            sent.counted = True
            self.wire.counts["round_trips"] += 1
        await self._pump().until(lambda: sent.answered)
        if self.wire.unseen is None and not sent.failed and fetch.array is not None:
            values = np.asarray(fetch.array)
        else:
            values = await self._waits(lambda: self.end_read(whole, fetch))
        return values if whole is t else part_of(whole, values, t)

    async def aflush(self) -> None:
        """Send what was recorded and wait until the server applied it; raises its errors. See `flush`."""
        await self._settle()
        await self._turn()
        try:
            recorder, wire = self.recorder(), self.wire
            recorder.flush()
            if recorder.ahead is not None:
                recorder.ahead.send()
            upto = wire.seq
            if wire.flying:
                wire.counts["round_trips"] += 1
        finally:
            self.lock.release()
        await self._pump().until(lambda: not wire.flying or wire.answered >= upto)
        if wire.unseen is not None:
            await self._waits(self.check)

    async def ainfo(self) -> m.SessionInfo:
        """The server's state of the session, with its counts. See `info`."""
        await self.aflush()
        return await self._waits(self.info)  # type: ignore[attr-defined]

    async def aclose(self) -> None:
        """Send what is left, raise an unseen error, disconnect; an anonymous session ends. See `close`."""
        import asyncio

        if self._closed:
            return
        self.wire.presence.hurry.begin()
        session: Any = self
        try:
            with suppress(Exception):  # close() raises what matters
                await self._pump().until(lambda: not self.wire.flying)
            async with connecting(self.url):
                await self._waits(session.close)
        except asyncio.CancelledError:
            start(asyncio.get_running_loop(), session.abandon, lambda *_: None)
            raise
        finally:
            session.leave()

    async def __aenter__(self) -> Any:
        await self._settle()
        session: Any = self
        session.enter()
        return self

    async def __aexit__(self, *exc: object) -> None:
        import asyncio

        session: Any = self
        session.leave()
        try:
            if exc[0] is not None and issubclass(exc[0], asyncio.CancelledError) and self.wire.busy:  # type: ignore[arg-type]
                await in_thread(session.abandon)
            else:
                await self.aclose()
        except Exception as e:
            if exc[0] is None:
                raise
            print(f"gradd: closing {self._name}: {e}", file=sys.stderr)

    # -- waiting -----------------------------------------------------------------------------------

    def _pump(self) -> Pump:
        import asyncio

        if self._pumps is None:
            self._pumps = weakref.WeakKeyDictionary()
        loop = asyncio.get_running_loop()
        found = self._pumps.get(loop)
        if found is None:
            found = self._pumps[loop] = Pump(self, loop)
        return found

    async def _settle(self) -> None:
        """As `ready`."""
        if self._closed:
            raise SessionClosed(f"the session {self._name!r} is closed")
        if not self.settled():
            await self._pump().until(lambda: not self.wire.flying)
            await self._waits(self.ready)

    async def _turn(self) -> None:
        """Wait for the lock and take it: another thread may mend the connection."""
        import asyncio

        lock: Any = self.lock
        while not lock.acquire(blocking=False):
            await asyncio.sleep(0.01)

    async def _waits(self, function: Callable[[], T]) -> T:
        """What a function returns that may wait, on a thread which records as this one."""
        session: Any = self
        lent = session.lend()

        def run() -> T:
            lent()
            return function()

        return await in_thread(run)


def connecting(url: str) -> Any:
    """A turn among the tasks of this loop that connect to that daemon, or disconnect: a few at a time, so
    that a thousand together do not time out.
    """
    import asyncio

    turns = _turns.setdefault(asyncio.get_running_loop(), {})
    return turns.setdefault(url, asyncio.Semaphore(_TOGETHER))


_TOGETHER = 16
_turns: weakref.WeakKeyDictionary[AbstractEventLoop, dict[str, Any]] = weakref.WeakKeyDictionary()
