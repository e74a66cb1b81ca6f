"""What a front does that does not lead: it passes connections on to the one that does, and takes the lead
where that one is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import http.client
import logging
import signal
import socket
import ssl
import time
import urllib.parse
from collections.abc import Callable, Sequence

import uvloop

from gradd_server.fronts.leads import FrontAddress, Lead, Leads
from gradd_server.fronts.relay import Relay
from gradd_server.texts import is_loopback

logger = logging.getLogger("gradd.server")

LOOK_SECONDS = 0.5
"""Between two looks at the front that leads."""
SURE_SECONDS = 0.2
"""Between the look that found nobody, and the one that makes sure."""
ANSWER_SECONDS = 1.0
"""Longest wait for an answer to a look."""
START_SECONDS = 90.0
"""How long a front that has just taken the lead may take to answer."""


class Unreachable(RuntimeError):
    """The front that leads is not reached where it says that it is; the command exits with 69."""


class Found(enum.Enum):
    """What a look at a front finds."""

    HERE = enum.auto()
    SILENT = enum.auto()
    GONE = enum.auto()
    """Nobody listens there any more."""


def look(front: FrontAddress, seconds: float) -> Found:
    """Ask a front whether it lives, and wait so long for any answer."""
    parts = urllib.parse.urlsplit(front.url)
    address = parts.hostname or "", parts.port
    if parts.scheme == "https":
        context = ssl.create_default_context()
        # It gets nothing and says nothing: who it is, clients check, whose connections are passed on.
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        asked: http.client.HTTPConnection = http.client.HTTPSConnection(
            *address, timeout=seconds, context=context
        )
    else:
        asked = http.client.HTTPConnection(*address, timeout=seconds)
    try:
        with contextlib.closing(asked):
            asked.request("GET", "/livez")
            asked.getresponse()
    except ConnectionRefusedError:
        return Found.GONE
    except (OSError, http.client.HTTPException):
        return Found.SILENT
    return Found.HERE


class Follower:
    """A front that listens at `listener`, and is `own` to the others. One that leads and says nothing for
    `silence` seconds counts as gone. `told` is called each time that another is followed.
    """

    def __init__(
        self,
        leads: Leads,
        own: FrontAddress,
        listener: socket.socket,
        silence: float,
        told: Callable[[FrontAddress], None],
    ) -> None:
        self._leads, self._own, self._listener = leads, own, listener
        self._silence, self._longest = silence, max(silence, START_SECONDS)
        self._told = told
        self._stopped = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        #: the lead that is looked at, when that was, and for how long it gives no answer
        self._number = 0
        self._looked = self._silent = 0.0

    def run(self, signals: Sequence[int] = (signal.SIGTERM, signal.SIGINT)) -> Lead | None:
        """Follow until this front leads; None where one of the signals ends it, or `stop`. Raises
        Unreachable.
        """
        self._listener.listen()
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            self._loop = runner.get_loop()
            for each in signals:
                self._loop.add_signal_handler(each, self._stopped.set)
            return runner.run(self._run())

    def stop(self) -> None:
        """Let `run` end, from another thread."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._stopped.set)

    async def _run(self) -> Lead | None:
        while not self._stopped.is_set():
            try:
                number, front = await asyncio.to_thread(self._leads.latest)
                if await asyncio.to_thread(self._is_gone, number, front):
                    if await asyncio.to_thread(self._leads.take, number, self._own):
                        return Lead(self._leads, number + 1)
                    continue
            except OSError as error:
                logger.warning("which front leads cannot be told at the moment: %s", error)
                front = None
            if front is not None:
                await self._follow(number, front)
            else:
                await self._pause()
        return None

    async def _follow(self, number: int, front: FrontAddress) -> None:
        """Pass connections on to `front` as long as it answers, and leads. Raises Unreachable."""
        self._told(front)
        parts = urllib.parse.urlsplit(front.url)
        async with Relay(self._listener, parts.hostname or "", parts.port or 0):
            while not self._stopped.is_set():
                await self._pause()
                # Where the storage is away, nobody else takes the lead either.
                with contextlib.suppress(OSError):
                    if await asyncio.to_thread(self._leads.is_over, number):
                        return
                    if await asyncio.to_thread(self._is_gone, number, front):
                        return

    async def _pause(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                await self._stopped.wait()

    def _is_gone(self, number: int, front: FrontAddress | None) -> bool:
        """Whether the front that has that lead will not come back; one that was where this front listens now
        will not. Raises Unreachable.
        """
        if number != self._number:
            self._number, self._looked, self._silent = number, time.monotonic(), 0.0
        if number == 0 or front == self._own:
            return True
        if front is not None and front.machine != self._own.machine and _is_here(front):
            raise Unreachable(
                f"the front that leads says that it is at {front.url}, which is this machine, and it is on "
                "another: give it --front-address"
            )
        if front is not None:
            found = look(front, ANSWER_SECONDS)
            if found is Found.GONE:  # it listens from before it takes the lead until it ends
                time.sleep(SURE_SECONDS)
                found = look(front, ANSWER_SECONDS)
            if found is Found.GONE:
                return True
            if found is Found.HERE:
                self._looked, self._silent = time.monotonic(), 0.0
                return False
        now = time.monotonic()
        # No more than a look takes: who was asleep itself blames nobody for the time.
        self._silent += min(now - self._looked, LOOK_SECONDS + ANSWER_SECONDS)
        self._looked = now
        return self._silent > (self._silence if self._leads.serves(number) else self._longest)


def _is_here(front: FrontAddress) -> bool:
    return is_loopback(urllib.parse.urlsplit(front.url).hostname or "")
