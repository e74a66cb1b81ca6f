"""Connections that a front passes on: what goes in comes out, both ways, and their ends too."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
import uvloop
from gradd_server.fronts import relay as module
from gradd_server.fronts.relay import Relay

from tests.waiting import PATIENCE

#: octets that go through, more than any buffer on the way holds
MUCH = 24 << 20


@contextmanager
def relayed(to: tuple[str, int]) -> Iterator[socket.socket]:
    """A socket at which connections are taken, and passed on for as long as the block lives."""
    listener = socket.create_server(("127.0.0.1", 0))
    began, over = threading.Event(), asyncio.Event()
    loop = uvloop.new_event_loop()

    async def run() -> None:
        async with Relay(listener, *to):
            began.set()
            await over.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()))
    thread.start()
    try:
        assert began.wait(PATIENCE)
        yield listener
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(PATIENCE)
        assert not thread.is_alive()
        loop.close()
        listener.close()


@contextmanager
def server(answer: Callable[[socket.socket], None]) -> Iterator[tuple[str, int]]:
    """Where each connection gets an answer, on a thread of its own."""
    listener = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def one(sock: socket.socket) -> None:
        with sock:
            answer(sock)

    def listen() -> None:
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            threads.append(threading.Thread(target=one, args=(sock,)))
            threads[-1].start()

    thread = threading.Thread(target=listen)
    thread.start()
    try:
        yield listener.getsockname()
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for each in (thread, *threads):
            each.join(PATIENCE)
            assert not each.is_alive()


def connected(listener: socket.socket) -> socket.socket:
    return socket.create_connection(listener.getsockname(), PATIENCE)


def whole(sock: socket.socket) -> bytes:
    """All that comes until the end."""
    found = bytearray()
    while data := sock.recv(1 << 16):
        found += data
    return bytes(found)


def has_ended(sock: socket.socket) -> bool:
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:
        return True


def echo(sock: socket.socket) -> None:
    while data := sock.recv(1 << 16):
        sock.sendall(data)


def last_word(sock: socket.socket) -> None:
    """Answers once the other side has said all."""
    sock.sendall(b"%d" % len(whole(sock)))


def test_what_goes_in_comes_out_both_ways() -> None:
    sent = os.urandom(MUCH)
    with server(echo) as to, relayed(to) as listener, connected(listener) as client:

        def send() -> None:
            client.sendall(sent)
            client.shutdown(socket.SHUT_WR)

        sending = threading.Thread(target=send)
        sending.start()
        assert whole(client) == sent
        sending.join(PATIENCE)


def test_who_has_said_all_may_still_hear() -> None:
    with server(last_word) as to, relayed(to) as listener, connected(listener) as client:
        client.sendall(b"x" * 1000)
        client.shutdown(socket.SHUT_WR)
        assert whole(client) == b"1000"


def test_many_at_once_are_not_mixed_up() -> None:
    with server(echo) as to, relayed(to) as listener:
        clients = [connected(listener) for _ in range(50)]
        for n, client in enumerate(clients):
            client.sendall(b"%04d" % n)
        for n, client in enumerate(clients):
            assert client.recv(4, socket.MSG_WAITALL) == b"%04d" % n
            client.close()


def test_the_end_of_one_is_the_end_of_the_other() -> None:
    ended = threading.Event()

    def hear(sock: socket.socket) -> None:
        sock.sendall(b"go")
        whole(sock)
        ended.set()

    with server(hear) as to, relayed(to) as listener:
        with connected(listener) as client:
            assert client.recv(2, socket.MSG_WAITALL) == b"go"
            assert not ended.is_set()
        assert ended.wait(PATIENCE)


def test_who_takes_nothing_is_sent_no_more_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 1 << 16)
    release = threading.Event()

    def slow(sock: socket.socket) -> None:
        release.wait(PATIENCE)
        sock.sendall(b"%d" % len(whole(sock)))

    with server(slow) as to, relayed(to) as listener, connected(listener) as client:
        client.settimeout(0.5)
        sent = 0
        with suppress(TimeoutError):
            while sent < 1 << 30:
                sent += client.send(bytes(1 << 20))
        assert sent < 1 << 30
        release.set()
        client.settimeout(PATIENCE)
        client.shutdown(socket.SHUT_WR)
        assert whole(client) == b"%d" % sent


def test_what_cannot_be_passed_on_is_ended() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        to = gone.getsockname()
    with relayed(to) as listener, connected(listener) as client:
        assert has_ended(client)


def test_in_the_end_connections_end_and_the_listener_stays() -> None:
    with server(echo) as to:
        with relayed(to) as listener:
            client = connected(listener)
            client.sendall(b"here")
            assert client.recv(4, socket.MSG_WAITALL) == b"here"
            kept = listener.dup()
        with client:
            assert has_ended(client)
        with kept, socket.create_connection(kept.getsockname(), PATIENCE) as later:
            taken, _ = kept.accept()
            with taken:
                taken.sendall(b"later")
            assert whole(later) == b"later"
