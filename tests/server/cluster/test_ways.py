"""Ways to hosts by calls of what reaches them otherwise, as Ray does: the same answers, and what ends how."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from gradd_server.placement.cluster import links
from gradd_server.placement.cluster.host import EngineHost
from gradd_server.placement.cluster.links import Address, link_to
from gradd_server.placement.cluster.tls import Tls
from gradd_server.placement.cluster.ways import WayEnds, Ways
from gradd_server.placement.link import EngineLink, EngineTask

from tests.server.cluster import test_links as plain
from tests.server.cluster.hosts import TASK, nothing_left, until
from tests.server.cluster.same import SameOverOneHost
from tests.server.cluster.test_links import OverOneHost
from tests.waiting import PATIENCE


@pytest.fixture
def host() -> Iterator[EngineHost]:
    with nothing_left():
        made = EngineHost("127.0.0.1")
        yield made
        made.close()


@pytest.fixture
def way(host: EngineHost) -> Iterator[Address]:
    """Where a way to the host begins."""
    ends = WayEnds(host.address.host, host.address.port)
    ways = Ways(lambda method, *given: getattr(ends, method)(*given))
    yield Address("127.0.0.1", ways.port, host.address.secret)
    ways.close()
    until(lambda: not ends._ends)


@pytest.fixture
def placement(host: EngineHost, way: Address) -> Iterator[OverOneHost]:
    made = OverOneHost(host, way=way)
    yield made
    made.shutdown()


class TestByCalls(SameOverOneHost):
    """The same answers."""


def test_it_is_taken_where_the_host_is_not_reached(
    host: EngineHost, way: Address, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    connected = links._connected

    def cut_off(address: Address, *more: Any) -> socket.socket:
        if address == host.address:
            raise TimeoutError("timed out")
        return connected(address, *more)

    def linked(address: Address, task: EngineTask, beat: float, tls: Tls | None) -> EngineLink:
        return link_to([host.address, way], task, 1, beat, tls)

    monkeypatch.setattr(links, "_connected", cut_off)
    with pytest.raises(TimeoutError):
        link_to([host.address], TASK, 1, 1.0, None)
    assert "by Ray's calls" not in caplog.text
    monkeypatch.setattr(plain, "far_link", linked)
    made = OverOneHost(host)
    try:
        plain.test_a_scenario_over_a_host_equals_inline(made)
    finally:
        made.shutdown()
    assert "by Ray's calls" in caplog.text


def test_where_nobody_listens_it_is_not_taken(way: Address) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    with pytest.raises(ConnectionRefusedError):
        link_to([Address("127.0.0.1", port, way.secret), way], TASK, 1, 1.0, None)


def test_where_the_calls_fail_the_connection_ends() -> None:
    def fail(*given: Any) -> Any:
        raise RuntimeError("the actor is gone")

    with nothing_left():
        ways = Ways(fail)
        with socket.create_connection(("127.0.0.1", ways.port), PATIENCE) as sock:
            assert sock.recv(1) == b""
        ways.close()
