"""`connect(timeout=)`: a reply that takes too long is given up, and what was sent is called off."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import gradd
import gradd as torch
import numpy as np
import pytest
from gradd._transports import Dropped, Overdue
from gradd._transports.link import Link
from gradd._transports.waits import HEED, left, within
from gradd._wire import absence
from gradd._wire.absence import Presence
from gradd_protocol.limits import DEFAULT

#: seconds that the test waits in place of minutes
SHORT = 0.3


@pytest.fixture(params=["local", "stream", "http"])
def connect(request: pytest.FixtureRequest) -> Any:
    """Connects over each transport."""
    url = "local:" if request.param == "local" else request.getfixturevalue("daemon")
    transport = "http" if request.param == "http" else "stream"
    return lambda **more: gradd.connect(url, transport=transport, **more)


def long_batch() -> Any:
    """The last tensor of minutes of work, not sent yet."""
    a = torch.eye(700)
    for _ in range(3000):
        a = a @ a
    return a


def test_a_batch_that_takes_longer_is_called_off(connect: Any) -> None:
    with connect(timeout=60) as session:
        x = torch.ones(2)
        kept = torch.ones(2, requires_grad=True)
        loss = (kept * 3).sum()
        session.flush()
        a = long_batch()
        session.wire.timeout = SHORT
        began = time.monotonic()
        with pytest.raises(gradd.TimedOut, match=r"no answer within 0.3 s: .*called off") as caught:
            a.sum().item()
        assert SHORT <= time.monotonic() - began < 60
        assert isinstance(caught.value, gradd.GraddError)
        assert isinstance(caught.value, TimeoutError)
        # as after Ctrl-C: what was before goes on
        session.wire.timeout = None
        x.add_(1)
        loss.backward()
        assert x.tolist() == [2.0, 2.0]
        assert kept.grad.tolist() == [3.0, 3.0]
        with pytest.raises(gradd.GraddError, match="cancelled"):
            a.tolist()
        assert session.tensors() == session.mirror()
        assert session.info().batches == session.wire.seq


def test_who_is_in_time_notices_nothing(connect: Any) -> None:
    with connect(timeout=60) as session:
        assert session.wire.timeout == 60.0
        x = torch.zeros(2)
        for _ in range(100):
            x.add_(1)
            session.step_done()
        assert x.tolist() == [100.0, 100.0]
        big = np.ones(DEFAULT.inline_upload_bytes, np.float32)
        assert torch.tensor(big).numpy().tobytes() == big.tobytes()
        assert session.info().batches == session.wire.seq


def test_the_window_is_waited_for_no_longer(connect: Any) -> None:
    with connect() as session:
        x = torch.ones(2)
        session.flush()
        long_batch()
        session.step_done()
        session.wire.timeout = SHORT

        def fill() -> None:
            for _ in range(session.wire.window):
                x.add_(1)
                session.step_done()

        with pytest.raises(gradd.TimedOut):
            fill()
        session.wire.timeout = None
        assert x.tolist() == [1.0, 1.0]
        assert session.tensors() == session.mirror()


@pytest.mark.parametrize("bad", [0, -1.0, float("nan"), "2"])
def test_what_is_no_number_of_seconds(bad: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="timeout"):
        gradd.connect("local:", timeout=bad)


# -- a daemon that is silent, and one that is away -----------------------------------------------------------


@pytest.fixture
def mute() -> Iterator[str]:
    """The address of one that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize("transport", ["stream", "http"])
def test_connecting(mute: str, transport: str) -> None:
    with pytest.raises(gradd.TimedOut, match=r"no answer within 0.1 s$"):
        gradd.connect(f"http://{mute}", "x", transport=transport, timeout=0.1)


def test_a_request_that_is_not_answered(mute: str) -> None:
    link = Link(f"http://{mute}", {}, silence=3600.0)
    with pytest.raises(Overdue), within(0.1):
        link.call("GET", "/")


def test_who_is_away_is_tried_no_longer(connect: Any) -> None:
    session = connect(reconnect=3600.0)
    x = torch.zeros(2)
    session.flush()
    session.wire.timeout = SHORT
    real = session.wire.transport

    class Away:
        extensions = real.extensions

        def __getattr__(self, name: str) -> Any:
            def call(*given: Any) -> Any:
                raise gradd.ConnectionFailed("refused") if name == "attach" else Dropped("cut")

            return call

    session.wire.transport = Away()
    with pytest.raises(gradd.TimedOut):
        x.add_(1).tolist()
    with pytest.raises(gradd.TimedOut):
        session.info()
    session.wire.transport = real
    session.wire.timeout = None
    assert x.tolist() == [1.0, 1.0]
    session.close()


def test_only_the_time_in_which_it_was_tried_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    presence = Presence("http://x", 3000.0)

    def rest() -> None:
        while True:
            presence.rest(Dropped("gone"))

    for hours in range(3):
        later = SimpleNamespace(monotonic=lambda ahead=3600.0 * hours: time.monotonic() + ahead)
        monkeypatch.setattr(absence, "time", later)  # the script did something else for an hour
        with pytest.raises(Overdue), within(0.01):
            rest()


# -- the clock -----------------------------------------------------------------------------------------------


def test_pieces_of_a_wait() -> None:
    assert left(HEED) == HEED
    with within(60):
        assert left(HEED) == HEED
        assert 59 < left(3600) <= 60
        with within(3600):
            assert left(3600) <= 60
        found: list[float] = []
        other = threading.Thread(target=lambda: found.append(left(3600)))
        other.start()
        other.join()
        assert found == [3600]
    assert left(3600) == 3600
