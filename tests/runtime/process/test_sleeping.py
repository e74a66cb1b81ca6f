"""A session that sleeps is on the disk only; one that is woken goes on as one that was awake all the time."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from gradd_engine.backends.array import NUMPY
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_runtime.process import Hosted
from gradd_runtime.store import make_record

from tests.runtime.store.scripts import LIMIT, differences, every_kind, opened, told

pytestmark = pytest.mark.usefixtures("settled")
OPTIONS = {"seed": 5, "quota_bytes": LIMIT, "durability": "process", "epoch": 1}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    make_record(tmp_path / "record.db")
    return tmp_path / "record.db"


def hosted(path: Path) -> Hosted:
    return Hosted("script", {**OPTIONS, "store": str(path)}, NUMPY)


def submit(host: Hosted, frame: bytes) -> bytes:
    while not host.wake(frame):
        """An entry of its record at a time."""
    return frames.join(host.answer(frame))


def ask(host: Hosted, message: m.Request) -> m.Reply:
    return frames.decode_reply(submit(host, frames.join(frames.encode(message))))[0]


def put(host: Hosted, *values: float) -> None:
    submit(host, frames.join(frames.encode(m.PutTensor("x"), [np.array(values)])))


def info(host: Hosted, wake: bool = False) -> m.SessionInfo:
    reply = ask(host, m.Info(wake=wake))
    assert isinstance(reply, m.SessionReply)
    return reply.session


@pytest.mark.parametrize("seed", range(4))
def test_a_session_that_slept_at_any_moment_answers_as_one_that_never_did(path: Path, seed: int) -> None:
    random = Random(seed)
    plain, kept = opened(), hosted(path)
    slept = 0
    script = [frame for frame in every_kind() if not isinstance(frames.decode_request(frame)[0], m.Info)]
    for n, frame in enumerate(script, 1):
        assert told(submit(kept, frame)) == told(plain.submit(frame)), n
        if random.random() < (0.1, 0.3, 0.6, 1.0)[seed]:
            assert kept.sleep()
            assert kept.session is None
            slept += 1
    assert slept
    assert kept.wake()
    assert kept.session is not None
    assert differences(plain, kept.session) == []
    kept.close()


def test_what_is_told_of_a_sleeping_session_does_not_wake_it(path: Path) -> None:
    kept = hosted(path)
    put(kept, 1.0, 2.0)
    before = info(kept)
    assert not before.asleep
    assert kept.sleep()
    for wake in (False, True, False):
        after = info(kept, wake)
        assert after.asleep
        assert after == m.SessionInfo(**{**m_dict(before), "asleep": True})
        assert kept.session is None
    kept.close()
    again = hosted(path)  # another process
    assert info(again, wake=True).asleep
    assert again.session is None
    assert isinstance(ask(again, m.ListTensors()), m.Tensors)
    assert again.session is not None
    assert (info(again).messages, info(again).asleep) == (before.messages + 2, False)
    again.close()


def m_dict(session: m.SessionInfo) -> dict[str, object]:
    return {name: getattr(session, name) for name in session.__struct_fields__}


def test_what_is_told_is_never_of_an_earlier_state(path: Path) -> None:
    """A session whose process ended has no summary: only one that it was woken for can tell."""
    kept = hosted(path)
    put(kept, 1.0)
    assert kept.sleep()
    put(kept, 2.0)
    put(kept, 3.0)
    kept.close()
    again = hosted(path)
    told = ask(again, m.Info(wake=False))
    assert isinstance(told, m.ProblemReply)
    assert (told.problem.slug, again.session) == ("recovering", None)
    session = info(again, wake=True)
    assert (session.last_position, session.asleep) == (3, False)
    again.close()


def test_a_session_that_cannot_sleep_stays_awake(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = hosted(path)
    assert not kept.sleep(), "it is not awake"
    put(kept, 1.0)
    with monkeypatch.context() as patch:
        patch.setattr(Hosted, "snapshot", lambda self: False)
        assert not kept.sleep()
    assert kept.session is not None
    assert not kept.due
    assert kept.sleep()
    kept.close()
    assert not Hosted("light", {}, NUMPY).sleep(), "it is kept nowhere"


def test_a_damaged_session_is_told_when_it_is_woken(path: Path) -> None:
    kept = hosted(path)
    put(kept, 1.0)
    assert kept.sleep()
    path.write_bytes(path.read_bytes()[:5000])
    assert info(kept).asleep
    files = {p: p.read_bytes() for p in path.parent.iterdir() if p.suffix != ".asleep"}
    for message in (m.ListTensors(), m.Info(), m.Info(wake=False)):
        reply = ask(kept, message)
        assert isinstance(reply, m.ProblemReply)
        assert reply.problem.slug == "store-failed"
    assert {p: p.read_bytes() for p in path.parent.iterdir()} == files
    kept.close()


def test_a_summary_that_is_damaged_costs_a_waking(path: Path) -> None:
    kept = hosted(path)
    put(kept, 1.0)
    assert kept.sleep()
    path.with_suffix(".asleep").write_bytes(b"{}")
    assert isinstance(ask(kept, m.Info(wake=False)), m.ProblemReply)
    assert info(kept, wake=True).tensors == 1
    kept.close()
