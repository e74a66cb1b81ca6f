"""Reads request bodies: checks the length, allocates memory, then copies each byte once to its place."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from gradd_protocol import dtypes, frames
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.messages import Request as Message
from gradd_runtime.process import BULK_BYTES, Bulk
from starlette.requests import Request

from gradd_server.errors import Refused
from gradd_server.media import JSON, media_type
from gradd_server.traffic import Load
from gradd_server.wire import header_for, wrapped

MIN_BYTES_PER_SECOND = 64 * 1024
"""A body that falls behind this rate by `body_timeout` seconds is refused (408); it can get ahead by at most
twice as much.
"""


class Body:
    """The body of `request`, at most `limit` bytes, to be read in order; `length` is its Content-Length.

    Raises Refused: 411 without a length, 413 above the limit, 429 where too many bytes are under way, 408 if
    these come too slowly. Allocates nothing before `read` or `fill`.
    """

    def __init__(self, request: Request, limit: int, timeout: float) -> None:
        stated = request.headers.get("content-length")
        if stated is None:
            if "transfer-encoding" in request.headers:
                raise Refused("length-required", "send Content-Length; chunked bodies are not read")
            stated = "0"
        self.length = int(stated)
        if self.length > limit:
            raise Refused(
                "body-too-large", f"the body has {self.length} bytes", limit=limit, requested=self.length
            )
        load: Load = request.scope["load"]
        load.take(self.length)
        self._turn: Callable[[int], Awaitable[None]] = request.scope["turn"]
        self._chunks: AsyncIterator[bytes] = request.stream().__aiter__()
        self._chunk = memoryview(b"")
        self._timeout = timeout
        self._due: float | None = None
        self.remaining = self.length

    async def read(self, count: int | None = None) -> bytearray:
        """The next `count` bytes (default: all that remain)."""
        data = bytearray(self.remaining if count is None else count)
        await self.fill(memoryview(data))
        return data

    async def fill(self, target: memoryview) -> None:
        """Fill `target` (a writable view of bytes) with the next bytes of the body."""
        at = 0

        def copy(piece: memoryview) -> None:
            nonlocal at
            target[at : at + len(piece)] = piece
            at += len(piece)

        await self.pour(len(target), copy)

    async def pour(self, count: int, into: Callable[[memoryview], object]) -> None:
        """Pass the next `count` bytes on in pieces, as they come."""
        if count > self.remaining:
            raise Refused("bad-request", "the body ended early")
        try:
            if self._due is None:
                self._due = asyncio.get_running_loop().time() + self._timeout
            async with asyncio.timeout_at(self._due) as deadline:
                await self._pour(count, into, deadline)
        except TimeoutError:
            raise Refused(
                "request-timeout",
                f"{self.length} bytes did not arrive in time",
                headers={"connection": "close"},
            ) from None
        self.remaining -= count

    async def _pour(
        self, count: int, into: Callable[[memoryview], object], deadline: asyncio.Timeout
    ) -> None:
        clock = asyncio.get_running_loop().time
        while count:
            if not self._chunk:
                chunk = await anext(self._chunks, None)
                if chunk is None:
                    raise Refused("bad-request", "the body ended early")
                self._chunk = memoryview(chunk)
                assert self._due is not None
                gained = self._due + len(chunk) / MIN_BYTES_PER_SECOND
                self._due = min(gained, clock() + 2 * self._timeout)
                deadline.reschedule(self._due)
                await self._turn(len(chunk))
            piece = self._chunk[:count]
            into(piece)
            self._chunk = self._chunk[len(piece) :]
            count -= len(piece)


OPTIONS_BYTES = 64 << 10
"""A JSON body of a few members. The front reads these itself, and everybody waits meanwhile."""


async def json_frame(request: Request, message: Message, timeout: float) -> frames.Bytes | Bulk:
    """The frame of `message` whose buffer is the request's JSON, for the session to read. Raises Refused: as
    `json_text`. What is large goes straight into a Bulk; from memory it would be copied at once, twice.
    """
    body = Body(request, LIMITS.json_bytes, timeout)
    if body.length:
        expect(request, JSON)
    if body.length < BULK_BYTES:
        return wrapped(message, await body.read())
    made = Bulk()
    made.write(header_for(message, dtypes.BY_NAME["uint8"], [body.length]))
    await body.pour(body.length, made.write)
    return made


async def json_text(request: Request, timeout: float, limit: int) -> bytes:
    """A JSON body of at most `limit` bytes, b"" if there is none. Raises Refused: as Body, or 415."""
    body = Body(request, limit, timeout)
    if body.length:
        expect(request, JSON)
    return bytes(await body.read())


def expect(request: Request, *kinds: str) -> str:
    """The media type of the request's body, if one of `kinds`; otherwise Refused (415)."""
    kind, _ = media_type(request.headers.get("content-type", ""))
    if kind not in kinds:
        raise Refused("unsupported-media-type", f"send {' or '.join(kinds)}", supported=list(kinds))
    return kind
