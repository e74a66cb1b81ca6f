"""What tests of sessions in event loops share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import gradd
import gradd as torch
import pytest

from tests.waiting import PATIENCE

HOWS = ["local", "stream", "http"]


def opener(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`gradd.aconnect`, over the transport that is the fixture's parameter."""
    url = "local:" if request.param == "local" else request.getfixturevalue("daemon")
    transport = "http" if request.param == "http" else "stream"
    return lambda **more: gradd.aconnect(url, transport=transport, **more)


def run(main: Any) -> Any:
    """What a coroutine returns, in a loop of its own."""

    async def bounded() -> Any:
        async with asyncio.timeout(PATIENCE):
            return await main

    return asyncio.run(bounded())


class Turns:
    """A task that counts how often the loop came to it."""

    def __init__(self) -> None:
        self.count = 0
        self._task = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        while True:
            self.count += 1
            await asyncio.sleep(0)

    async def passed(self, least: int) -> None:
        """Wait until it came so often more."""
        end = self.count + least
        while self.count < end:
            await asyncio.sleep(0)

    def stop(self) -> None:
        """It is not needed any more."""
        self._task.cancel()


def long_batch() -> Any:
    """The last tensor of minutes of work, not sent yet."""
    a = torch.eye(700)
    for _ in range(3000):
        a = a @ a
    return a


async def begun(session: Any, task: asyncio.Future[Any]) -> None:
    """Let `task` begin, and wait until something was sent, which may be answered by then, or it is done."""
    sent = session.wire.seq
    await asyncio.sleep(0)
    while not (session.wire.flying or session.wire.seq > sent or task.done()):
        await asyncio.sleep(0)
