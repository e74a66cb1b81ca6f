"""Passes connections on to another front, octet by octet: TLS and keys are between that front and clients."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from typing import cast

logger = logging.getLogger("gradd.server")

CONNECT_SECONDS = 3.0
"""Longest wait for the other front to take a connection."""
MOST_WAITING = 4 << 20
"""Octets that may wait for an end which takes them slowly, before no more are read of the other."""
BACKLOG = 2048
"""Connections that may wait to be taken, as uvicorn's."""


class End(asyncio.Protocol):
    """An end of a connection that is passed on: what comes there goes to the other, once there is one."""

    def __init__(self) -> None:
        self._other: End | None = None
        self._transport: asyncio.Transport | None = None
        #: what came before there was another end
        self._early: list[bytes] = []
        self._said_all = self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(MOST_WAITING)

    def join(self, other: End) -> None:
        """Let the two be one connection; where one has ended, so has the other."""
        self._other, other._other = other, self
        if self._transport is None or other._transport is None:
            self.abort()
            other.abort()
            return
        for one, far in ((self, other._transport), (other, self._transport)):
            far.writelines(one._early)
            one._early.clear()
            if one._said_all:
                far.write_eof() if far.can_write_eof() else far.close()
            one._pause(False)

    def _far(self) -> asyncio.Transport | None:
        return None if self._other is None else self._other._transport

    def _pause(self, paused: bool = True) -> None:
        """Read no more here for now, or again."""
        if self._transport is not None and paused is not self._paused:
            self._paused = paused
            self._transport.pause_reading() if paused else self._transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        if (far := self._far()) is not None:
            far.write(data)
        else:
            self._early.append(data)
            self._pause()

    def eof_received(self) -> bool:
        """See asyncio. The other way may go on, but not with TLS."""
        self._said_all = True
        own, far = self._transport, self._far()
        halves = own is not None and own.can_write_eof()
        if far is None:
            return halves
        if halves and far.can_write_eof():
            far.write_eof()
            return self._other is not None and not self._other._said_all
        return False

    def pause_writing(self) -> None:
        """See asyncio."""
        if self._other is not None:
            self._other._pause()

    def resume_writing(self) -> None:
        """See asyncio."""
        if self._other is not None:
            self._other._pause(False)

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio. What was on its way to the other end still goes there."""
        far, self._other, self._transport = self._far(), None, None
        if far is not None:
            far.close() if exc is None else far.abort()

    def abort(self) -> None:
        """End it at once."""
        if self._transport is not None:
            self._transport.abort()


class Taken(End):
    """The end of who connected to this front."""

    def __init__(self, relay: Relay) -> None:
        super().__init__()
        self._relay = relay

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio."""
        super().connection_made(transport)
        self._relay.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        super().connection_lost(exc)
        self._relay.ends.discard(self)


class Relay:
    """Takes connections at `listener`, which stays open, and passes them on to the front at (`host`, `port`),
    for as long as the block lives. One that cannot be passed on is ended, and so are all in the end.
    """

    def __init__(self, listener: socket.socket, host: str, port: int) -> None:
        self.ends: set[Taken] = set()
        """Those of the clients that are connected."""
        self._listener, self._to = listener, (host, port)
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    def opened(self, near: Taken) -> None:
        """Somebody connected."""
        self.ends.add(near)
        task = asyncio.get_running_loop().create_task(self._pass(near))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pass(self, near: Taken) -> None:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                _, far = await asyncio.get_running_loop().create_connection(End, *self._to)
        except OSError as refused:
            logger.info("a connection cannot be passed on: %s", refused)
            near.abort()
        else:
            near.join(far)

    async def __aenter__(self) -> Relay:
        listener = self._listener.dup()
        listener.setblocking(False)
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Taken(self), sock=listener, backlog=BACKLOG)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for end in list(self.ends):
            end.abort()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CONNECT_SECONDS):
                await self._server.wait_closed()
