"""A bad network between clients and their daemon, which knows where a message ends: it loses, repeats, delays
and cuts whole HTTP requests and answers, and whole messages of WebSockets.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from contextlib import suppress

#: kind -> share of the messages that meet with it
RATES = {"duplicate": 0.01, "delay": 0.005, "cut": 0.002, "drop": 0.001, "half-open": 0.0001}
_DELAYS = (0.001, 0.02)
#: opcodes of WebSocket frames that carry a message
_DATA = (1, 2)


class Network:
    """Forwards connections to `port` of this machine; `url` is its own address. What a message meets with
    depends on `seed`, the number of its connection and its own number alone.

    - duplicate: it comes twice (of two answers to one request, one goes on);
    - delay: it comes later, and so do those behind it;
    - cut: the connection ends, both ways, after some of its bytes;
    - drop: the same, after none of them;
    - half-open: from it on nothing is forwarded, either way, and nobody is told.
    """

    def __init__(self, port: int, seed: str) -> None:
        self._port, self._seed = port, seed
        #: kind -> how many messages met with it
        self.done: Counter[str] = Counter()
        self._connections = 0
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = self._loop.run_until_complete(
            asyncio.start_server(self._accept, "127.0.0.1", 0, limit=1 << 24)
        )
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def close(self) -> None:
        """End every connection, and take no more."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._connections += 1
        number = self._connections
        writers = [writer]
        try:
            far = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 24)
            writers.append(far[1])
            connection = _Connection(self, f"{self._seed} {number}")
            ways = [connection.forward("up", reader, far[1]), connection.forward("down", far[0], writer)]
            await asyncio.gather(*ways)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError, _Cut):
            pass  # the connection ends
        finally:
            for one in writers:
                one.transport.abort()
            self._tasks.discard(task)


class _Cut(Exception):
    """The connection ends here."""


class _Connection:
    def __init__(self, network: Network, seed: str) -> None:
        self._network, self._seed = network, seed
        self._streams = False
        self._silent = False
        #: of the answer that comes next: which of two goes on
        self._twice: int | None = None

    async def forward(self, way: str, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """Forward message by message until the connection ends."""
        dice = random.Random(f"{self._seed} {way}")
        while True:
            stream = self._streams
            message = await (_frame(source) if stream else _http(source))
            if way == "down" and message.startswith(b"HTTP/1.1 101"):
                self._streams = True
            elif way == "up" and not stream and b"\r\nUpgrade: websocket\r\n" in message:
                await self._send(sink, message)
                while not (self._streams or self._silent):  # the answer says what comes next
                    await asyncio.sleep(0.001)
                continue
            elif way == "down" and self._twice is not None:
                second = await _http(source)
                message, self._twice = (message, second)[self._twice], None
            for _ in range(await self._meet(dice, way, stream, message, sink)):
                await self._send(sink, message)

    async def _meet(
        self, dice: random.Random, way: str, stream: bool, message: bytes, sink: asyncio.StreamWriter
    ) -> int:
        """What happens to a message; how often it is to be sent."""
        kind = dice.choices([*RATES, ""], [*RATES.values(), 1 - sum(RATES.values())])[0]
        if not kind or (kind == "duplicate" and not _repeatable(way, stream, message)):
            return 1
        self._network.done[kind] += 1
        if kind == "duplicate":
            if not stream:
                self._twice = dice.randrange(2)
            return 2
        if kind == "delay":
            await asyncio.sleep(dice.uniform(*_DELAYS))
            return 1
        if kind == "half-open":
            self._silent = True
            return 0
        if kind == "cut":
            sink.write(message[: dice.randrange(1, len(message))])
            with suppress(OSError):
                await sink.drain()
        raise _Cut

    async def _send(self, sink: asyncio.StreamWriter, message: bytes) -> None:
        if not self._silent:
            sink.write(message)
            await sink.drain()


def _repeatable(way: str, stream: bool, message: bytes) -> bool:
    return message[0] & 15 in _DATA if stream else way == "up"


async def _http(source: asyncio.StreamReader) -> bytes:
    """A request or an answer, whole."""
    head = await source.readuntil(b"\r\n\r\n")
    fields = dict(line.split(b":", 1) for line in head.lower().split(b"\r\n")[1:-2])
    assert b"transfer-encoding" not in fields, head
    return head + await source.readexactly(int(fields.get(b"content-length", b"0")))


async def _frame(source: asyncio.StreamReader) -> bytes:
    """A frame of a WebSocket; here each message is one."""
    head = await source.readexactly(2)
    size = head[1] & 127
    if size > 125:
        more = await source.readexactly(2 if size == 126 else 8)
        size = int.from_bytes(more, "big")
        head += more
    return head + await source.readexactly(size + (4 if head[1] & 128 else 0))
