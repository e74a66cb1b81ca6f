"""What breaks between client and server is mended, and nothing is applied twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradd
import gradd as torch
import numpy as np
import pytest
from gradd._transports import local
from gradd._transports.base import Dropped


@pytest.fixture(params=["local", "stream", "http"])
def session(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A session over each transport."""
    url = "local:" if request.param == "local" else request.getfixturevalue("daemon")
    with gradd.connect(url, transport="http" if request.param == "http" else "stream") as s:
        yield s


@pytest.fixture
def inside() -> Iterator[tuple[Any, Any]]:
    """A session of this process, and the runtime's side of it."""
    with gradd.connect("local:") as s:
        yield s, local._inline()._sessions[s.name].session


def count_to(n: int, session: Any, x: Any) -> None:
    """`n` batches in flight, each of which adds one to `x`."""
    for _ in range(n):
        x.add_(1)
        session.step_done()


class Flaky:
    """A transport that loses its connection at chosen sends, after or before the frame got through."""

    def __init__(self, inner: Any, lose: dict[int, str]) -> None:
        self._inner = inner
        self._lose = lose

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def send(self, parts: Any, seq: int) -> None:
        how = self._lose.pop(seq, "")
        if how != "before":
            self._inner.send(parts, seq)
        if how:
            raise Dropped("the test cut the wire")


@pytest.mark.parametrize("how", ["before", "after"])
def test_batches_are_sent_again_and_applied_once(session: Any, how: str) -> None:
    x = torch.zeros(2)
    session.flush()
    session.wire.transport = Flaky(session.wire.transport, dict.fromkeys((3, 4, 7), how))
    count_to(8, session, x)
    assert x.tolist() == [8.0, 8.0]
    assert session.info().batches == session.wire.seq


def test_a_dropped_stream_comes_back(daemon: str) -> None:
    with gradd.connect(daemon) as session:
        x = torch.zeros(2)
        session.flush()
        for _ in range(3):
            count_to(5, session, x)
            session.wire.transport._socket._socket.shutdown(2)
            count_to(5, session, x)
        assert x.tolist() == [30.0, 30.0]
        assert session.info().batches == session.wire.seq


def test_a_lost_reply_is_asked_for_again(inside: tuple[Any, Any]) -> None:
    session, _ = inside
    x = torch.zeros(2)
    count_to(4, session, x)
    session.wire.transport.receive(True)
    assert x.tolist() == [4.0, 4.0]


def test_forgotten_programs_are_spelled_out_again(inside: tuple[Any, Any]) -> None:
    session, server = inside
    x, y = torch.zeros(2), torch.ones(2)
    for _ in range(3):
        count_to(2, session, x)
        y.mul_(2)
        session.step_done()
        server.programs.clear()
    assert x.tolist() == [6.0, 6.0]
    assert y.tolist() == [8.0, 8.0]
    assert session.info().batches == session.wire.seq


def test_a_program_refused_before_has_its_error_again(inside: tuple[Any, Any]) -> None:
    session, server = inside
    table = torch.ones(3)
    for _ in range(3):
        table[torch.tensor([99])]
        server.programs.clear()
        with pytest.raises(IndexError):
            session.flush()
    assert table.tolist() == [1.0, 1.0, 1.0]


def test_a_session_that_lost_an_upload_is_lost(inside: tuple[Any, Any]) -> None:
    _, server = inside
    x = torch.from_numpy(np.arange(100_000, dtype=np.float32))
    assert server.staged
    server.staged.clear()
    with pytest.raises(gradd.SessionLost, match="has not come"):
        x.numpy()
    with pytest.raises(gradd.SessionLost, match="has not come"):
        torch.ones(2)


@pytest.mark.filterwarnings("ignore::gradd.LostWriteWarning")
def test_large_arrays_are_the_callers_again_at_once(session: Any) -> None:
    data = np.arange(1_000_000, dtype=np.float32)
    expected = data + 1
    x = torch.from_numpy(data)
    data[:] = -1
    np.testing.assert_array_equal((x + 1).numpy(), expected)
    x.add_(1)
    np.testing.assert_array_equal(x.numpy(), expected)
    np.testing.assert_array_equal(torch.tensor(expected[::-2]).numpy(), expected[::-2])
    assert session.info().batches == session.wire.seq


def test_skipped_batches_leave_no_staged_bytes(inside: tuple[Any, Any]) -> None:
    session, server = inside
    torch.ones(3)[torch.tensor([99])]
    session.step_done()
    x = torch.from_numpy(np.zeros(100_000, np.float32))
    with pytest.raises(IndexError):
        x.numpy()
    assert (len(server.staged), server.staged.bytes) == (0, 0)


def test_a_result_that_is_gone_is_asked_for_again(inside: tuple[Any, Any]) -> None:
    session, server = inside
    x = torch.from_numpy(np.arange(100_000, dtype=np.float32))
    y = x + 1
    session.recorder().flush([y])
    session.wire.wait_all()
    assert server.pins
    server.pins.clear()
    assert y.numpy()[-1] == 100_000.0


def test_the_window_bounds_what_is_in_flight(inside: tuple[Any, Any]) -> None:
    session, _ = inside
    x = torch.zeros(2)
    for _ in range(5 * session.wire.window):
        x.add_(1)
        session.step_done()
        assert len(session.wire.flying) <= session.wire.window
    assert x.tolist() == 2 * [5.0 * session.wire.window]


def test_a_daemon_that_is_not_there_is_said_so() -> None:
    for transport in ("stream", "http"):
        with pytest.raises(gradd.ConnectionFailed, match=r"no gradd daemon answers at http://127\.0\.0\.1:9"):
            gradd.connect("http://127.0.0.1:9", transport=transport)
    with pytest.raises(ValueError, match="transport must be"):
        gradd.connect("local:", transport="pigeon")
    with pytest.raises(ValueError, match="a url starts with"):
        gradd.connect("ftp://example.org")


def test_a_connection_that_stays_away_is_said_so_and_may_come_back(
    inside: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    session, _ = inside
    x = torch.zeros(2)
    session.flush()
    session.wire.presence._seconds = 0.1
    transport = session.wire.transport
    working = transport.attach

    def away(resume: Any = None) -> Any:
        raise gradd.ConnectionFailed("no route")

    monkeypatch.setattr(transport, "attach", away)
    session.wire.transport = Flaky(transport, {2: "after"})
    x.add_(1)
    with pytest.raises(gradd.ConnectionFailed, match="did not come back"):
        session.flush()
    monkeypatch.setattr(transport, "attach", working)
    assert x.tolist() == [1.0, 1.0]
