"""A stream that attaches by its handshake: with what stands between, where it is refused, near and far."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import gradd
import numpy as np
import pytest
from gradd._transports import websocket
from gradd._transports.link import Link
from gradd._transports.stream import StreamTransport
from gradd_protocol import runtimefile
from gradd_protocol.messages import Info

from tests.client.relay import Relay

PROXIES = {
    "passes all on": (b"x", b"x"),
    "takes the client's header out": (b"Gradd-Attach:", b"X-Some-Other:"),
    "takes the daemon's header out": (b"gradd-attached", b"x-other-header"),
}


@pytest.fixture
def relay(daemon: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Relay]:
    entry = runtimefile.find(daemon)
    assert entry is not None
    monkeypatch.setenv("GRADD_API_KEY", entry.key)
    made = Relay(int(daemon.rpartition(":")[2]))
    yield made
    made.close()


@pytest.mark.parametrize("proxy", PROXIES)
def test_what_a_proxy_takes_out_is_said_again(relay: Relay, proxy: str) -> None:
    relay.change(*PROXIES[proxy])
    with gradd.connect(relay.url) as session:
        assert isinstance(session.wire.transport, StreamTransport)
        x = gradd.ones(3, requires_grad=True)
        for n in range(5):
            (x * n).sum().backward()
        assert x.grad is not None
        assert x.grad.tolist() == [10.0] * 3
        assert session.wire.writer == 1
        reply: Any = session.wire.transport.request(Info())[0]
        assert reply.session.writers == 1  # however often it was said


def test_a_refusal_is_told_as_by_the_first_message(relay: Relay) -> None:
    told = []
    for old, new in (PROXIES["passes all on"], PROXIES["takes the client's header out"]):
        relay.change(old, new)
        transport = StreamTransport(relay.url, "nobody", os.environ["GRADD_API_KEY"])
        with pytest.raises(gradd.SessionLost) as caught:
            transport.attach((1, 1))
        transport.close()
        told.append(str(caught.value))
    assert told[0] == told[1]
    assert "nobody" in told[0]


class Prepared:
    """Links that say what they do with a connection that they opened ahead."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sockets: list[Any] = []
        prepare = Link.prepare

        def noted(link: Link, beside: Any) -> None:
            prepare(link, beside)
            self.sockets.append(link._opening)

        monkeypatch.setattr(Link, "prepare", noted)

    @property
    def open(self) -> list[bool]:
        """Whether each is still open."""
        return [made.fileno() >= 0 for made in self.sockets]


@pytest.mark.parametrize("far", [False, True])
def test_a_connection_is_opened_ahead_to_a_daemon_far_away_alone(
    daemon: str, monkeypatch: pytest.MonkeyPatch, far: bool
) -> None:
    monkeypatch.setattr(websocket, "FAR", 0.0 if far else 1e9)
    prepared = Prepared(monkeypatch)
    with gradd.connect(daemon) as session:
        assert session.wire.transport.far is far
        assert prepared.open == [far]
        values = np.arange(1 << 18, dtype=np.float32)
        assert gradd.from_numpy(values).sum().item() == pytest.approx(float(values.sum()), rel=1e-6)
    assert prepared.open == [False]


def test_one_that_is_not_used_ends_with_its_session(daemon: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket, "FAR", 0.0)
    prepared = Prepared(monkeypatch)
    with gradd.connect(daemon) as session:
        assert gradd.ones(2).tolist() == [1.0, 1.0]
        assert prepared.open == [True]
        assert session.wire.transport.far
    assert prepared.open == [False]
