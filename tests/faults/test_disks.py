"""Disks that fill up or fail, and records that are damaged, under a session that is hosted."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradd_engine.backends.array import NUMPY
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_runtime.process import Hosted
from gradd_runtime.store import SqliteStore

from tests.runtime.peer import FILL, Peer


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "record.db"
    path.touch()
    return path


def hosted(record: Path) -> Hosted:
    return Hosted("kept", {"store": str(record), "durability": "process"}, NUMPY)


def submit(host: Hosted, frame: bytes) -> bytes:
    while not host.wake():
        pass
    return frames.join(host.answer(memoryview(frame)))


def peer(host: Hosted) -> Peer:
    return Peer(submit=lambda frame: submit(host, frame))


class Disk:
    """What writes of all stores come to."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.error: OSError | None = None
        append, probe = SqliteStore.append, SqliteStore.probe

        def guarded(real: Any) -> Any:
            def write(store: SqliteStore, *given: Any) -> None:
                if self.error is not None:
                    raise self.error
                real(store, *given)

            return write

        patch.setattr(SqliteStore, "append", guarded(append))
        patch.setattr(SqliteStore, "probe", guarded(probe))


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


@pytest.mark.parametrize(
    ("code", "slug"), [(errno.ENOSPC, "disk-full"), (errno.EDQUOT, "disk-full"), (errno.EIO, "store-failed")]
)
def test_a_session_is_back_once_its_store_can_be_written(
    record: Path, disk: Disk, code: int, slug: str
) -> None:
    host = hosted(record)
    one = peer(host)
    one.put("x", np.ones(3))
    one.batch(FILL, keep=[0], first=1)
    disk.error = OSError(code, "it failed")
    refused, _ = one.ask(one.message(FILL, keep=[0], first=2))
    assert (refused.problem.slug, refused.problem.retry_after) == (slug, 1)
    again, _ = one.ask(m.Info())
    assert again.problem.slug == slug
    disk.error = None
    listed, _ = one.ask(m.ListTensors())
    assert sorted(t.id for t in listed.tensors) == ["@1.1", "x"]
    reply, _ = one.frame(one.sent[-3])
    assert (reply.seq, reply.applied, reply.replayed, reply.problem) == (2, 1, False, None)
    host.close()


def test_a_session_sleeps_until_it_is_asked_for_something(record: Path) -> None:
    first = hosted(record)
    one = peer(first)
    one.put("x", np.arange(3.0))
    one.batch(FILL, keep=[0], first=1)
    first.close()
    second = hosted(record)
    assert second.session is None
    turns = 0
    while not second.wake():
        turns += 1
    assert turns == 3  # an entry each: others have their turns between
    reply, _ = frames.decode_reply(submit(second, one.sent[-1]))
    assert reply.replayed
    _, (values,) = frames.decode_reply(submit(second, frames.join(frames.encode(m.GetTensor("x")))))
    assert values.tolist() == [0.0, 1.0, 2.0]
    second.close()


@pytest.mark.parametrize("harm", ["gone", "noise", "entry"])
def test_a_damaged_record_is_told_and_left(record: Path, harm: str) -> None:
    host = hosted(record)
    peer(host).put("x", np.ones(3))
    host.close()
    if harm == "gone":
        record.unlink()
    else:
        data = record.read_bytes()
        record.write_bytes(data[::-1] if harm == "noise" else data.replace(b"put-tensor", b"put-tensoR"))
    before = record.read_bytes() if record.exists() else None
    again = hosted(record)
    for _ in range(2):
        reply, _ = frames.decode_reply(submit(again, frames.join(frames.encode(m.Info()))))
        assert reply.problem.slug == "store-failed"
        assert "record" in reply.problem.detail or "entry" in reply.problem.detail
    again.close()
    assert (record.read_bytes() if record.exists() else None) == before
