"""How long the steps of a batch were recorded: told with each batch, to who takes it."""

from __future__ import annotations

from typing import Any

import gradd
import pytest
from gradd_protocol import frames
from gradd_protocol.messages import Batch
from gradd_protocol.version import EXTENSIONS


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Any:
    """One that begins to record at 10 s, and sends at 12.5."""
    monkeypatch.setattr("gradd._program.builder.perf_counter", lambda: 10.0)
    monkeypatch.setattr("gradd._function.replay.perf_counter", lambda: 11.0)
    monkeypatch.setattr("gradd._wire.outbox.perf_counter", lambda: 12.5)
    with gradd.connect("local:") as session:
        yield session


def sent(session: Any, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The times of the batches that are sent from now on."""
    transport, found = session.wire.transport, []
    real = transport.send

    def send(parts: Any, seq: int) -> None:
        message, _ = frames.decode_request(frames.join(parts))
        assert isinstance(message, Batch)
        found.append(message.recording)
        real(parts, seq)

    monkeypatch.setattr(transport, "send", send)
    return found


def test_it_is_from_the_first_step_until_the_batch_is_sent(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = sent(session, monkeypatch)
    for _ in range(2):
        (gradd.ones(3) + 1).tolist()
    assert times == [0.0, 2.5], "a new program's batch tells none"
    session.log({"of no step": 1.0})
    session.flush()
    assert times[-1] == 0.0


def test_of_a_traced_function_it_is_the_call(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = gradd.ones(3)
    traced = gradd.function(lambda x: x + 1)
    for _ in range(2):
        traced(x)
    session.flush()
    times = sent(session, monkeypatch)
    traced(x)
    assert times == [1.5]


def test_each_part_of_a_long_batch_has_it(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = gradd.ones(3)
    session.flush()
    for _ in range(2):
        times = sent(session, monkeypatch)
        y = x
        for _ in range(5000):
            y = y + 1
        session.flush()
    assert times == [2.5, 2.5]


def test_a_daemon_that_does_not_take_it_is_not_told(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    times = sent(session, monkeypatch)
    transport = session.wire.transport
    monkeypatch.setattr(transport, "extensions", frozenset(EXTENSIONS) - {"recording"})
    for _ in range(2):
        (gradd.ones(3) + 1).tolist()
    assert times == [0.0, 0.0]


def test_a_profile_has_it(session: Any) -> None:
    with session.profile() as profile:
        for _ in range(2):
            (gradd.ones(3) + 1).tolist()
    assert [batch.recording for batch in profile.batches] == [0.0, 2.5]
