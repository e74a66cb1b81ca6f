"""A hostile tenant, for as long as it may: `python -m tests.faults.mix URL KEY KIND... < a pipe`.

It says "ready", begins at a line that it reads, says "busy" once each kind was answered, and stops at the
next line. Then it says what it was answered, as JSON: a count for each status (`queues 200`), 0 for what was
closed or is not answered yet.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any

import httpx
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.program import Program, Step
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidMessage, InvalidStatus, WebSocketException

LOST = (OSError, httpx.HTTPError, WebSocketException, InvalidMessage, InvalidStatus, EOFError)
SCALE = float(os.environ.get("GRADD_MIX", "1"))
"""How much of it: 1 opens 10,000 connections."""


def count(of: int) -> int:
    """So many, at the scale that was asked for."""
    return max(1, int(of * SCALE))


ONES = Step("ones", [], {"size": [400, 400], "dtype": "float64"})
QUEUED = [ONES, Step("matmul", [0, 0]), Step("matmul", [1, 0]), Step("sum", [2])]
"""Some milliseconds of work."""
SIDE = round(2500 * min(1.0, SCALE) ** (1 / 3))
LONG = [
    Step("ones", [], {"size": [SIDE, SIDE], "dtype": "float64"}),
    *(Step("matmul", [i, 0]) for i in range(3)),
]
"""Some seconds of work at scale 1, in three kernels."""
CHAIN = 4000
"""Nodes that a batch adds to a graph."""


class Hostile:
    """The connections of one tenant, and what it was answered."""

    def __init__(self, url: str, key: str) -> None:
        self.url = url
        self.headers = {"authorization": f"Bearer {key}"}
        self.answers: Counter[str] = Counter()
        self.kind = ""
        self.names = itertools.count()
        limits = httpx.Limits(max_connections=None)
        self.http = httpx.AsyncClient(
            base_url=url, headers=self.headers, timeout=None, trust_env=False, limits=limits
        )

    def of(self, kind: str) -> dict[str, int]:
        """The answers to one kind."""
        return {answer: n for answer, n in self.answers.items() if answer.startswith(kind + " ")}

    async def call(self, kind: str, method: str, path: str, **request: Any) -> int:
        """One request; its status, which is counted."""
        try:
            status = (await self.http.request(method, path, **request)).status_code
        except LOST:
            status = 0
            await asyncio.sleep(0.01)
        self.answers[f"{kind} {status}"] += 1
        return status

    async def session(self, kind: str) -> str:
        """The path of a new session."""
        path = f"/v1/sessions/{kind}-{next(self.names)}"
        await self.call(kind, "PUT", path, json={"durability": "memory"})
        return path

    async def together(self, of: int, one: Callable[[], Awaitable[None]]) -> None:
        """Do it again and again, so many at a time."""

        async def again() -> None:
            while True:
                await one()
                await asyncio.sleep(0)

        async with asyncio.TaskGroup() as group:
            for _ in range(count(of)):
                group.create_task(again())


class Stream:
    """A writer on a stream, with as many batches on their way as its window has."""

    def __init__(self, socket: ClientConnection, attached: m.Attached) -> None:
        self._socket, self._said = socket, attached
        self.seq = self.ack = 0

    async def send(self, steps: list[Step], inputs: tuple[str, ...] = (), **more: Any) -> None:
        """The next batch."""
        self.seq += 1
        program = Program(len(inputs), steps)
        batch = m.Batch(
            writer=self._said.writer, epoch=self._said.epoch, seq=self.seq, ack=self.ack,
            program=program.id(), definition=program, inputs=list(inputs), **more,
        )  # fmt: skip
        await self._socket.send(frames.join(frames.encode(batch)))

    async def answer(self) -> int:
        """The status of the next reply."""
        data = await self._socket.recv(decode=False)
        reply = frames.decode_reply(data)[0]
        self.ack += 1
        return reply.problem.status if isinstance(reply, m.ProblemReply) else 200


async def streamed(peer: Hostile, kind: str, ahead: int, send: Callable[[Stream], Awaitable[None]]) -> None:
    """Keep `ahead` batches on their way to a session of its own."""
    path = await peer.session(kind)
    url = f"{peer.url.replace('http', 'ws')}{path}/stream"
    try:
        async with connect(
            url, subprotocols=["gradd.v1"], additional_headers=peer.headers, compression=None,  # type: ignore[list-item]
            max_size=None, open_timeout=None, ping_interval=None, proxy=None,
        ) as socket:  # fmt: skip
            await socket.send(frames.join(frames.encode(m.Attach("mix"))))
            attached = frames.decode_reply(await socket.recv(decode=False))[0]
            assert isinstance(attached, m.Attached)
            stream = Stream(socket, attached)
            for _ in range(ahead):
                await send(stream)
            while True:
                status = await stream.answer()
                peer.answers[f"{kind} {status}"] += 1
                await send(stream)
    except LOST:
        peer.answers[f"{kind} 0"] += 1
        await asyncio.sleep(0.01)


async def queues(peer: Hostile) -> None:
    """100 sessions that always have 50 frames of some milliseconds waiting."""
    await peer.together(
        100, lambda: streamed(peer, "queues", 50, lambda stream: stream.send(QUEUED, fetch=[3]))
    )


async def long(peer: Hostile) -> None:
    """Kernels that take seconds."""
    await peer.together(4, lambda: streamed(peer, "long", 2, lambda stream: stream.send(LONG)))


async def graphs(peer: Hostile) -> None:
    """Graphs of a million nodes, which are dropped when they are complete."""

    async def one() -> None:
        path = await peer.session("graphs")
        steps: list[Any] = [{"op": "ones", "attrs": {"size": [1], "requires_grad": True}, "outputs": ["t"]}]
        chain = [{"op": "sin", "inputs": ["t"], "outputs": ["t"]}] * CHAIN
        for _ in range(1_000_000 // CHAIN):
            if await peer.call("graphs", "POST", f"{path}/batches", json={"steps": steps + chain}) != 200:
                break
            steps = []
        await peer.call("graphs", "DELETE", path)

    await peer.together(2, one)


async def bombs(peer: Hostile) -> None:
    """Little that would become much: broadcasts, and sums over them."""
    path = await peer.session("bombs")
    wide = {"op": "ones", "attrs": {"size": [1, 1_000_000]}, "outputs": ["%w"]}
    tall = {"op": "ones", "attrs": {"size": [1_000_000, 1]}, "outputs": ["%t"]}
    huge = {"op": "expand", "inputs": ["%w"], "attrs": {"size": [1_000_000, 1_000_000]}, "outputs": ["%h"]}
    tries = [
        [wide, tall, {"op": "add", "inputs": ["%w", "%t"], "outputs": ["x"]}],
        [wide, huge, {"op": "sum", "inputs": ["%h"], "outputs": ["x"]}],
        [wide, huge, {"op": "contiguous", "inputs": ["%h"], "outputs": ["x"]}],
        [wide, tall, {"op": "matmul", "inputs": ["%t", "%w"], "outputs": ["x"]}],
    ]
    turn = itertools.cycle(tries)

    async def one() -> None:
        await peer.call("bombs", "POST", f"{path}/batches", json={"steps": next(turn), "fetch": ["x"]})

    await peer.together(8, one)


async def bodies(peer: Hostile) -> None:
    """JSON of 8 MiB, some of it good, and uploads of 64 MiB."""
    path = await peer.session("bodies")
    numbers = json.dumps({"data": [0.125] * 1_000_000, "dtype": "float32"}).encode()
    nested = b'{"data": [' + b"[" * 4_000_000 + b"]" * 4_000_000 + b"]}"
    zeros = bytes(64 << 20)
    octets = {
        "content-type": "application/octet-stream",
        "gradd-dtype": "uint8",
        "gradd-shape": str(len(zeros)),
    }
    tries = [
        (numbers, {"content-type": "application/json"}),
        (nested, {"content-type": "application/json"}),
        (zeros, octets),
    ]
    turn = itertools.cycle(tries)

    async def one() -> None:
        content, headers = next(turn)
        await peer.call("bodies", "PUT", f"{path}/tensors/x", content=content, headers=headers)

    await peer.together(4, one)


async def raw(peer: Hostile, kind: str, head: bytes, more: bytes) -> None:
    """A connection that says `head`, and then `more` again and again, until it is answered."""
    status = "0"
    try:
        url = httpx.URL(peer.url)
        reader, writer = await asyncio.open_connection(url.host, url.port)
        answer = asyncio.ensure_future(reader.read(12))
        try:
            writer.write(head)
            while not answer.done():
                writer.write(more)
                await asyncio.wait([answer], timeout=0.05 if more else None)
            status = answer.result()[9:12].decode() or "0"
        finally:
            answer.cancel()
            writer.close()
    except OSError:
        await asyncio.sleep(0.1)
    finally:
        peer.answers[f"{kind} {status}"] += 1


async def connections(peer: Hostile) -> None:
    """10,000 connections that never finish their first request, opened again when they are closed."""
    head = b"GET /livez HTTP/1.1\r\nhost: localhost\r\n"
    await peer.together(10_000, lambda: raw(peer, "connections", head, b""))


async def trickle(peer: Hostile) -> None:
    """500 bodies that come a byte at a time."""
    path = await peer.session("trickle")
    length = 1 << 20
    head = (
        f"PUT {path}/tensors/x HTTP/1.1\r\nhost: localhost\r\n"
        f"authorization: {peer.headers['authorization']}\r\n"
        "content-type: application/octet-stream\r\ngradd-dtype: uint8\r\n"
        f"gradd-shape: {length}\r\ncontent-length: {length}\r\n\r\n"
    ).encode()
    await peer.together(500, lambda: raw(peer, "trickle", head, b"x"))


async def pins(peer: Hostile) -> None:
    """Results of 8 MiB that nobody reads, and whose replies are never acknowledged."""
    steps = [Step("ones", [], {"size": [1 << 20], "dtype": "float64"})]

    async def send(stream: Stream) -> None:
        stream.ack = 0
        await stream.send(steps, fetch=[0])

    await peer.together(4, lambda: streamed(peer, "pins", 8, send))


async def endless(peer: Hostile) -> None:
    """One session after the other, each kept, none deleted."""

    async def one() -> None:
        path = f"/v1/sessions/endless-{next(peer.names)}"
        await peer.call("endless", "PUT", path)
        await peer.call("endless", "PUT", f"{path}/tensors/x", json={"data": [1.0]})

    await peer.together(8, one)


KINDS: dict[str, Callable[[Hostile], Awaitable[None]]] = {
    made.__name__: made for made in (queues, long, graphs, bombs, bodies, connections, trickle, pins, endless)
}


async def nothing(peer: Hostile) -> None:
    """No hostility: what the machine does on its own."""
    await asyncio.Event().wait()


async def spin(peer: Hostile) -> None:
    """No request, but a core that is never idle: what the process alone is to the others."""
    while True:
        until = perf_counter() + 0.01
        while perf_counter() < until:
            pass
        await asyncio.sleep(0)


CONTROLS: dict[str, Callable[[Hostile], Awaitable[None]]] = {"nothing": nothing, "spin": spin}
"""What the others are compared with."""


def answered(peer: Hostile, kind: str) -> bool:
    """Whether there was an answer to more than the beginning."""
    if kind in CONTROLS:
        return True
    begun = kind == "connections" or bool(peer.of(kind))
    return begun if kind in ("connections", "trickle") else sum(peer.of(kind).values()) > 1


async def main(url: str, key: str, kinds: list[str]) -> None:
    """Obey what comes over the standard input."""
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    peer = Hostile(url, key)
    print("ready", flush=True)
    while await lines.readline():
        at_it = [asyncio.ensure_future((KINDS | CONTROLS)[kind](peer)) for kind in kinds]
        while not all(answered(peer, kind) for kind in kinds) and not any(task.done() for task in at_it):
            await asyncio.sleep(0.02)
        print("busy", flush=True)
        await lines.readline()
        for task in at_it:
            task.cancel()
        await asyncio.gather(*at_it, return_exceptions=True)
        faults = [task.exception() for task in at_it if not task.cancelled()]
        assert not any(faults), faults
        print(json.dumps(peer.answers), flush=True)
        peer.answers.clear()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
