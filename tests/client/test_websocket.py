"""The stream's socket: messages in order and whole, pings answered, no wait for each other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from socket import SHUT_RDWR
from typing import Any

import pytest
from gradd._transports import keeping
from gradd._transports.keeping import Keeper
from gradd._transports.websocket import Closed, WebSocket
from websockets.exceptions import InvalidHandshake
from websockets.sync.server import Server, ServerConnection, serve

from tests.waiting import PATIENCE

Handler = Callable[[ServerConnection], None]


@pytest.fixture
def serving() -> Iterator[Callable[..., str]]:
    """Start a server with a handler; its address."""
    with ExitStack() as stack:

        def start(handler: Handler, **options: Any) -> str:
            server: Server = serve(handler, "127.0.0.1", 0, subprotocols=["t"], compression=None, **options)  # type: ignore[list-item]
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.shutdown)
            return f"ws://127.0.0.1:{server.socket.getsockname()[1]}/"

        yield start


@pytest.fixture
def keeper(monkeypatch: pytest.MonkeyPatch) -> Keeper:
    """The keeper of sockets that are opened from now on, which does not rest long."""
    monkeypatch.setattr(keeping, "KEEP", 0.01)
    made = Keeper()
    monkeypatch.setattr(keeping, "_keeper", made)
    return made


def echo(connection: ServerConnection) -> None:
    for message in connection:
        connection.send(message)


def opened(url: str, **headers: str) -> WebSocket:
    return WebSocket(url, "t", headers, max_size=1 << 24, silence=60.0)


def test_messages_come_back_in_order(serving: Callable[..., str]) -> None:
    socket = opened(serving(echo))
    assert socket.receive(block=False) is None
    sent = [bytes([n]) * n * 1000 for n in range(50)]
    for message in sent:
        socket.send(message)
    assert [socket.receive(block=True) for _ in sent] == sent
    socket.close()


def test_a_socket_that_was_closed_under_it_is_said_so(serving: Callable[..., str], keeper: Keeper) -> None:
    socket = opened(serving(echo))
    keeper.remove(socket)
    socket._socket.close()
    with pytest.raises(Closed):
        socket.receive(block=True)


def test_a_message_in_fragments_is_one(serving: Callable[..., str]) -> None:
    def fragments(connection: ServerConnection) -> None:
        connection.send([b"a", b"b" * 70_000, b"c"])
        connection.send(b"next")
        connection.recv()

    socket = opened(serving(fragments))
    assert socket.receive(block=True) == b"a" + b"b" * 70_000 + b"c"
    assert socket.receive(block=True) == b"next"
    socket.close()


def test_large_messages_both_ways_do_not_wait_for_each_other(serving: Callable[..., str]) -> None:
    socket = opened(serving(echo, max_size=1 << 24))
    big = bytes(6 << 20)
    for _ in range(4):  # more than the socket's buffers hold: the server stops reading until it is read
        socket.send(big)
    for _ in range(4):
        assert socket.receive(block=True) == big
    socket.close()


def test_pings_are_answered_while_nobody_looks(serving: Callable[..., str], keeper: Keeper) -> None:
    """On one thread, whatever the number of sockets."""
    answered = threading.Semaphore(0)

    def pings(connection: ServerConnection) -> None:
        for _ in range(3):
            assert connection.ping().wait(PATIENCE)
        answered.release()
        connection.recv()

    url = serving(pings, ping_interval=None)
    before = {thread for thread in threading.enumerate() if thread.name == "gradd-stream"}
    sockets = [opened(url) for _ in range(3)]
    for _ in sockets:
        assert answered.acquire(timeout=PATIENCE)
    kept = {thread for thread in threading.enumerate() if thread.name == "gradd-stream"} - before
    assert kept == {keeper._thread}
    for socket in sockets:
        socket.send(b"still there")
        socket.close()


def test_an_end_is_told_after_what_came_before_it(serving: Callable[..., str]) -> None:
    def leave(connection: ServerConnection) -> None:
        connection.send(b"last")

    socket = opened(serving(leave))
    assert socket.receive(block=True) == b"last"
    with pytest.raises(Closed):
        socket.receive(block=True)
    with pytest.raises(Closed):
        socket.send(b"too late")
    socket.close()


@pytest.mark.parametrize("how", ["close", "die"])
def test_an_end_while_nobody_looks_blocks_nobody(
    serving: Callable[..., str], keeper: Keeper, how: str
) -> None:
    def leave(connection: ServerConnection) -> None:
        if how == "die":
            connection.socket.shutdown(SHUT_RDWR)

    socket = opened(serving(leave))
    if (thread := keeper._thread) is not None:  # it ends with the last socket
        thread.join(PATIENCE)
    assert keeper._thread is None
    with pytest.raises(Closed):
        socket.send(b"too late")
    socket.close()


def test_what_is_refused_at_the_start_raises(serving: Callable[..., str]) -> None:
    def refuse(connection: ServerConnection, request: Any) -> Any:
        return connection.respond(403, "no")

    url = serving(echo, process_request=refuse)
    with pytest.raises(InvalidHandshake):
        opened(url)
    with pytest.raises(OSError, match="refused"):
        opened("ws://127.0.0.1:9/")


def test_headers_travel(serving: Callable[..., str]) -> None:
    def tell(connection: ServerConnection) -> None:
        assert connection.request is not None
        connection.send(connection.request.headers["Authorization"].encode())
        connection.recv()

    socket = opened(serving(tell), Authorization="Bearer x")
    assert socket.receive(block=True) == b"Bearer x"
    socket.close()
