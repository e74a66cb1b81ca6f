"""Functions that wait, on threads, for tasks of an event loop. asyncio is imported when it is used: a script
without it need not load it.
"""

from __future__ import annotations

import threading
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from .modes import Aside

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future
    from collections.abc import Callable

T = TypeVar("T")


def start(
    loop: AbstractEventLoop, function: Callable[[], T], done: Callable[[T | None, Exception | None], None],
) -> None:  # fmt: skip
    """Run a function on a thread of its own; then `done` is called in the loop, with what it returned or
    raised.
    """

    def run() -> None:
        found, error = None, None
        try:
            found = function()
        except Exception as e:
            error = e
        try:
            loop.call_soon_threadsafe(done, found, error)
        except RuntimeError:  # the loop was closed
            done(found, error)

    threading.Thread(target=copy_context().run, args=(run,), name="gradd-waits", daemon=True).start()


async def in_thread(function: Callable[[], T], unclaimed: Callable[[T], object] | None = None) -> T:
    """What a function returns or raises, which waits on a thread of its own. Where the task is cancelled it
    goes on, and `unclaimed` is called with its result.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    waiter: asyncio.Future[Any] = loop.create_future()
    start(loop, function, partial(_done, waiter, unclaimed))
    try:
        with Aside(loop):
            return await waiter  # type: ignore[no-any-return]
    finally:
        del waiter  # it has the error, whose traceback has this frame


def _done(
    waiter: Future[Any], unclaimed: Callable[[Any], object] | None, found: Any, error: Exception | None
) -> None:
    if waiter.cancelled() or waiter.get_loop().is_closed():
        if error is None and unclaimed is not None:
            threading.Thread(target=unclaimed, args=(found,), name="gradd-waits", daemon=True).start()
    elif error is not None:
        waiter.set_exception(error)
    else:
        waiter.set_result(found)
