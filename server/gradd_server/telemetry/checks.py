"""Whether the daemon is ready: each check says what is wrong, if anything is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

CHECK_SECONDS = 2.0
"""Longest wait for a check: a disk may hang."""


class Checks:
    """`checks` by name; each returns what is wrong, or nothing, on a thread of its own."""

    def __init__(self, checks: Mapping[str, Callable[[], str]] | None = None) -> None:
        self._checks = dict(checks or {})
        self._running: dict[str, Future[str]] = {}
        self._threads = ThreadPoolExecutor(len(self._checks) or 1, "gradd-ready")

    async def faults(self, seconds: float = CHECK_SECONDS) -> dict[str, str]:
        """What each check says; empty where nothing is wrong."""
        return {name: await self._fault(name, seconds) for name in self._checks}

    async def _fault(self, name: str, seconds: float) -> str:
        running = self._running.get(name)
        if running is None or running.done():  # one that hangs is not asked twice
            running = self._running[name] = self._threads.submit(self._checks[name])
        try:
            return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(running)), seconds)
        except TimeoutError:
            return f"{name} cannot be told within {seconds:g} s"
