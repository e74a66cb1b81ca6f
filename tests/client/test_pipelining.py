"""Sending waits for nothing but the window; reading waits for its own batch; held batches cost no stream."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import gradd
import pytest
import uvicorn
from gradd_runtime.catalog import ops
from gradd_runtime.process import InlinePlacement
from gradd_server.app import create_app
from gradd_server.daemon import configuration
from gradd_server.settings import Settings
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from tests.waiting import PATIENCE


class Held(InlinePlacement):
    """Runs a frame for each permit, in order."""

    def __init__(self) -> None:
        self.permits = threading.Semaphore(0)
        self.open_door = True
        super().__init__()

    def _run(self, name: str, frame: Any) -> bytes:
        if not self.open_door:
            assert self.permits.acquire(timeout=PATIENCE)
        return super()._run(name, frame)

    def hold(self) -> None:
        self.open_door = False

    def release(self) -> None:
        self.open_door = True
        self.permits.release()


class Thread(uvicorn.Server):
    """A daemon in this process, without its signals."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = threading.Event()
        self._thread = threading.Thread(target=self.run)

    def install_signal_handlers(self) -> None:
        return

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.up.set()

    def __enter__(self) -> str:
        self._thread.start()
        assert self.up.wait(PATIENCE)
        return f"http://127.0.0.1:{self.servers[0].sockets[0].getsockname()[1]}"

    def __exit__(self, *exc: object) -> None:
        self.should_exit = True
        self._thread.join(PATIENCE)


@pytest.fixture
def placement() -> Iterator[Held]:
    made = Held()
    yield made
    made.release()
    made.shutdown()


@pytest.fixture
def url(placement: Held) -> Iterator[str]:
    settings = Settings(auth=False, port=0, stream_ping_seconds=0.02)
    gate = create_app(settings, placement, ops())
    config = configuration(settings, gate, gate.front.connected)
    config.port = 0
    with Thread(config) as address:
        yield address


@pytest.fixture(params=["stream", "http"])
def session(request: pytest.FixtureRequest, url: str, placement: Held) -> Iterator[Any]:
    with gradd.connect(url, transport=request.param) as s:
        yield s
        placement.release()


def send(session: Any, x: Any, count: int) -> None:
    """`count` batches, each of which adds one to `x`."""
    for _ in range(count):
        x.add_(1)
        session.step_done()


@pytest.fixture
def third_pong(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set when the daemon has had three answers to its pings since the test asked for it."""
    event, seen = threading.Event(), []
    inner = WebSocketsSansIOProtocol.handle_pong

    def counting(protocol: Any, frame: Any) -> None:
        inner(protocol, frame)
        seen.append(frame)
        if len(seen) == 3:
            event.set()

    monkeypatch.setattr(WebSocketsSansIOProtocol, "handle_pong", counting)
    return event


def test_sends_wait_for_nothing_but_the_window(
    session: Any, placement: Held, third_pong: threading.Event
) -> None:
    x = gradd.zeros(2)
    session.flush()
    window = session.wire.window
    placement.hold()
    send(session, x, window)
    assert len(session.wire.flying) == window
    # One more does not fit: it waits, and answers the daemon's pings meanwhile.
    more = threading.Thread(target=send, args=(session, x, 1))
    more.start()
    if session.wire.transport.__class__.__name__ == "StreamTransport":
        assert third_pong.wait(PATIENCE)
    assert more.is_alive()
    placement.release()
    more.join(PATIENCE)
    assert x.tolist() == [window + 1.0] * 2
    assert session.info().batches == session.wire.seq  # over the first connection: nothing was sent twice


def test_reading_waits_for_its_own_batch(session: Any, placement: Held) -> None:
    x = gradd.zeros(2)
    session.flush()
    placement.hold()
    total = x.sum()
    session.recorder().flush([total])
    send(session, x, 3)
    placement.permits.release()
    assert total.item() == 0.0
    assert len(session.wire.flying) == 3
    placement.release()
    assert x.tolist() == [3.0, 3.0]
