"""How many connections there may be, and whose they are."""

from __future__ import annotations

import asyncio
import socket

import pytest
import uvicorn
from gradd_protocol.problems import Problem
from gradd_server.connections import Connections
from gradd_server.errors import Refused
from gradd_server.http1 import patient
from gradd_server.machine import most_files
from gradd_server.settings import Settings
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState


class Door:
    """A connection by hand."""

    def __init__(self, connections: Connections) -> None:
        self.told: Problem | None = None
        self._all = connections
        connections.opened(self)

    def hang_up(self, fault: Problem) -> None:
        self.told = fault
        self._all.closed(self)


def test_silence_keeps_nobody_out() -> None:
    """Where there are enough, the oldest that is nobody's has to go."""
    connections = Connections(3, 3)
    mine, *silent = [Door(connections) for _ in range(3)]
    connections.claim(mine, "a")
    new = Door(connections)
    told = silent[0].told
    assert told is not None
    assert (told.slug, told.used, told.limit, told.requested) == ("too-many", 3, 3, 1)
    assert (mine.told, silent[1].told, new.told, len(connections)) == (None, None, None, 3)


def test_where_all_are_somebodys_a_new_one_has_to_go() -> None:
    connections = Connections(2, 2)
    doors = [Door(connections) for _ in range(2)]
    for door in doors:
        connections.claim(door, "a")
    new = Door(connections)
    assert new.told is not None
    assert [door.told for door in doors] == [None, None]
    connections.claim(new, "a")  # its request came, though it was told to go
    assert len(connections) == 2
    connections.closed(doors[0])
    assert Door(connections).told is None


def test_a_tenant_has_so_many() -> None:
    connections = Connections(10, 2)
    doors = [Door(connections) for _ in range(4)]
    connections.claim(doors[0], "a")
    connections.claim(doors[0], "a")
    with connections.stream("a"):
        with pytest.raises(Refused) as refused:
            connections.claim(doors[1], "a")
        assert (refused.value.problem.slug, refused.value.problem.status) == ("too-many", 429)
        assert refused.value.headers == {"retry-after": "1", "connection": "close"}
        with pytest.raises(Refused), connections.stream("a"):
            raise AssertionError("it was let in")
        connections.claim(doors[1], "b")
    connections.claim(doors[2], "a")
    connections.claim(doors[2], "b")  # a proxy's goes from one to another
    connections.claim(doors[3], "a")
    assert dict(connections.tenants) == {"a": 2, "b": 2}
    for door in doors:
        connections.closed(door)
    assert (len(connections), dict(connections.tenants)) == (0, {})


def test_defaults_are_what_the_system_allows() -> None:
    settings = Settings()
    assert settings.most_connections == min(10_000, most_files() * 3 // 4)
    assert settings.most_tenant_connections == settings.most_connections // 2
    assert Settings(connections=5, tenant_connections=3).most_tenant_connections == 3


def test_a_body_is_read_as_it_is_handled() -> None:
    """Who trickles many would have the event loop read each byte; so they become a piece meanwhile."""
    handle = asyncio.Event()
    pieces: list[bytes] = []
    read: list[int] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await handle.wait()
        more = True
        while more:
            message = await receive()
            pieces.append(message["body"])
            more = message["more_body"]
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    class Noting(patient(60.0, Connections(9, 9))):  # type: ignore[misc]
        def on_body(self, body: bytes) -> None:
            read.append(len(body))
            super().on_body(body)

    async def trickle() -> bytes:
        config = uvicorn.Config(app, log_config=None, lifespan="off")
        config.load()
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        with ours:
            ours.setblocking(False)
            await loop.connect_accepted_socket(lambda: Noting(config, ServerState(), {}), theirs)
            await loop.sock_sendall(ours, b"PUT / HTTP/1.1\r\nhost: here\r\ncontent-length: 20\r\n\r\n")
            for _ in range(20):
                await loop.sock_sendall(ours, b"x")
                for _ in range(5):
                    await asyncio.sleep(0)  # whatever came is read
            assert read == [1]
            handle.set()
            return await loop.sock_recv(ours, 100)

    answer = asyncio.run(trickle())
    assert answer.startswith(b"HTTP/1.1 204 ")
    assert b"".join(pieces) == b"x" * 20
    assert len(read) <= 3
