"""Something new for a task of an event loop, from any thread."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress


class News:
    """One task waits for it, and looks itself for what there is: of news that comes meanwhile it is not told.
    Made in the event loop.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._waiter: asyncio.Future[None] | None = None

    def wait(self) -> asyncio.Future[None]:
        """To be awaited: the next news."""
        self._waiter = waiter = self._loop.create_future()
        return waiter

    def tell(self) -> None:
        """There is news. Called on any thread."""
        if threading.get_ident() == self._thread:
            self.wake()
            return
        with suppress(RuntimeError):  # the loop is closed, so nobody waits
            self._loop.call_soon_threadsafe(self.wake)

    def wake(self) -> None:
        """`tell`, for the thread of the loop."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
