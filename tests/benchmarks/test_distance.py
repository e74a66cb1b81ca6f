"""The link that the questions about distance are asked over, and how many round trips their scripts take."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import gradd
import pytest

from benchmarks.distance import first_loss
from benchmarks.farlink import Lane, Relay, far
from benchmarks.mlp_sgd import TASK
from benchmarks.training import data, script
from tests.client.trips import Clock
from tests.waiting import PATIENCE


class Time:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_lane_delays_and_has_as_many_bytes_on_the_way_as_come() -> None:
    time = Time()
    lane = Lane(0.075, 0.0, time)
    assert [lane.due(1 << 20) for _ in range(3)] == [0.075] * 3
    time.now = 0.5
    assert lane.due(10) == 0.575
    assert lane.count == 3 * (1 << 20) + 10


def test_a_lane_gives_so_many_bytes_a_second_to_all_together() -> None:
    time = Time()
    lane = Lane(1.0, 100.0, time)
    assert [lane.due(50), lane.due(100)] == [1.5, 2.5]
    time.now = 10.0  # what was not used is lost
    assert lane.due(100) == 12.0


def test_nothing_leaves_before_the_connection_is_open() -> None:
    assert Lane(1.0, 0.0, Time()).due(1, earliest=2.0) == 3.0


@contextmanager
def echo() -> Iterator[int]:
    """The port of a server that says what it hears to the end, and then ends."""

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            while data := connection.recv(1 << 16):
                connection.sendall(data)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_a_relay_passes_all_on_in_order_and_counts_it() -> None:
    sent = bytes(n * n % 251 for n in range(300_000))
    with echo() as port:
        relay = Relay(port, 0.002, 1e9)
        with socket.create_connection(("127.0.0.1", relay.port), PATIENCE) as near:
            near.sendall(sent)
            near.shutdown(socket.SHUT_WR)
            with near.makefile("rb") as heard:
                assert heard.read() == sent
        assert relay.counts() == (1, len(sent), len(sent))
        relay.close()


def test_a_session_over_a_link(daemon: str) -> None:
    """In a process of its own, as the questions have it."""
    with far(daemon, 0.02) as link:
        with gradd.connect(link.url, token=link.key):
            assert (gradd.ones(3) + 1).tolist() == [2.0, 2.0, 2.0]
        assert link.counts().connections == 2  # a stream, and one for bulk
        assert link.counts().up > 0


@pytest.fixture
def clock() -> Iterator[Clock]:
    with Clock().counting() as counting:
        yield counting


def test_the_first_loss_is_four_round_trips(daemon: str, clock: Clock) -> None:
    """The connection, its handshake, the uploads, and the loss."""
    with gradd.connect("local:"):
        start = [p.detach().numpy() for p in TASK.model(gradd).parameters()]
    trips: list[int] = []
    first_loss(daemon, None, *data(TASK), start, lambda: trips.append(clock.now))
    assert trips == [4]


@pytest.mark.parametrize(("steps", "upload"), [(100, False), (8, True)])
def test_a_loop_waits_for_its_loss_alone(daemon: str, clock: Clock, steps: int, upload: bool) -> None:
    """All its steps are on their way at once."""
    with gradd.connect(daemon):
        run = script(gradd, TASK, steps, steps, False, upload)
        run()
        before = clock.now
        run()
        assert clock.now - before == 1
