"""Snapshots in the store: a session that is made again from the latest and the entries after it is the
session, wherever its process ended, and the record is no longer than that needs.
"""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_runtime.process import Hosted, hosting
from gradd_runtime.session import Session
from gradd_runtime.store import BLOB_BYTES, FileStore, make_record

from tests.runtime.store.scripts import LIMIT, differences, every_kind, opened, told
from tests.waiting import PATIENCE

pytestmark = pytest.mark.usefixtures("settled")
#: how many frames come between two snapshots
OFTEN = 5


@pytest.fixture(scope="module")
def script() -> list[bytes]:
    return every_kind()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    make_record(tmp_path / "record.db")
    return tmp_path / "record.db"


def hosted(path: Path, durability: str = "process") -> Hosted:
    """The session `script`, awake."""
    from gradd_engine.backends.array import NUMPY

    made = Hosted(
        "script", {"seed": 5, "quota_bytes": LIMIT, "store": str(path), "durability": durability}, NUMPY
    )
    while not made.wake():
        """An entry at a time."""
    return made


def session_of(kept: Hosted) -> Session:
    assert kept.session is not None
    return kept.session


def snapshots(path: Path) -> list[Path]:
    return sorted(path.parent.glob("*.safetensors"), key=lambda p: p.stat().st_mtime_ns)


def problem_of(kept: Hosted) -> Any:
    message = frames.decode_reply(frames.join(kept.answer(frames.join(frames.encode(m.Info())))))[0]
    assert isinstance(message, m.ProblemReply)
    return message.problem


@pytest.mark.parametrize("durability", ["process", "disk"])
def test_a_session_with_snapshots_answers_as_one_without(
    path: Path, script: list[bytes], durability: str
) -> None:
    plain, kept = opened(), hosted(path, durability)
    for n, frame in enumerate(script, 1):
        reply = frames.join(kept.answer(frame))
        assert told(reply) == told(plain.submit(frame)), n
        if n % OFTEN == 0:
            assert kept.snapshot()
        if n % 17 == 0:
            kept.close()
            kept = hosted(path, durability)
    assert differences(plain, session_of(kept), ignored=["counts"]) == []
    kept.close()
    store = FileStore(path)
    latest, before = store.snapshots()
    assert [entry.n for entry in store.entries()] == list(range(before + 1, plain.entries + 1))
    assert before < latest <= plain.entries
    assert [p.stem for p in snapshots(path)] == [f"record-{before}", f"record-{latest}"]
    store.close()


def test_uploads_go_with_their_entries(path: Path) -> None:
    kept = hosted(path)
    for n in range(4):
        kept.answer(frames.join(frames.encode(m.PutTensor("x"), [np.full(BLOB_BYTES, n, np.uint8)])))
        kept.snapshot()
    assert len(list(path.with_suffix(".blobs").iterdir())) == 1
    kept.close()


def test_it_is_taken_when_much_was_done(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = hosted(path)
    frame = frames.join(frames.encode(m.PutTensor("x"), [np.zeros(10_000)]))
    kept.answer(frame)
    assert not kept.due
    monkeypatch.setattr(hosting, "RECORD_BYTES", 3 * len(frame))
    assert kept.snapshot()
    for n in range(4):
        assert kept.due == (n == 4)
        kept.answer(frame)
    assert kept.due
    assert kept.snapshot()
    assert not kept.due
    monkeypatch.setattr(hosting, "REPLAY_SECONDS", 0.0)
    monkeypatch.setattr(hosting, "SHARE", 0.0)
    assert kept.snapshot()
    kept.answer(frames.join(frames.encode(m.Info())))
    assert not kept.due, "what only reads is not replayed"
    kept.answer(frame)
    assert kept.due
    kept.close()


def test_a_damaged_snapshot_gives_way_to_the_one_before(path: Path, script: list[bytes]) -> None:
    plain, kept = opened(), hosted(path)
    for n, frame in enumerate(script, 1):
        kept.answer(frame)
        plain.submit(frame)
        if n in (10, 20, 30):
            kept.snapshot()
    kept.close()
    _spoil(snapshots(path)[-1])
    kept = hosted(path)
    assert differences(plain, session_of(kept), ignored=["counts"]) == []
    kept.close()
    _spoil(snapshots(path)[0])
    files = {p: p.read_bytes() for p in path.parent.iterdir()}
    kept = hosted(path)
    found = problem_of(kept)
    assert found.slug == "store-failed"
    assert "no snapshot is sound, and entries before the oldest are gone" in found.detail
    assert {p: p.read_bytes() for p in path.parent.iterdir()} == files


def test_without_a_sound_snapshot_a_whole_record_is_enough(path: Path, script: list[bytes]) -> None:
    kept = hosted(path)
    for frame in script[:20]:
        kept.answer(frame)
    kept.snapshot()
    before = session_of(kept)
    again = _spoil(snapshots(path)[0])
    entries = before.entries
    kept.close()
    again.unlink()
    kept = hosted(path)
    assert session_of(kept).entries == entries
    kept.close()


def _spoil(path: Path) -> Path:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)
    return path


def test_where_there_is_no_room_the_record_goes_on(
    path: Path, script: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, target: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    plain, kept = opened(), hosted(path)
    for n, frame in enumerate(script):
        with monkeypatch.context() as patch:
            patch.setattr(Path, "rename", full)
            if n % OFTEN == 1:
                assert not kept.snapshot()
        assert told(frames.join(kept.answer(frame))) == told(plain.submit(frame))
    assert [p.suffix for p in path.parent.iterdir() if p.suffix in (".safetensors", ".new")] == []
    kept.close()
    kept = hosted(path)
    assert differences(plain, session_of(kept), ignored=["counts"]) == []
    kept.close()


def test_a_snapshot_that_may_not_be_in_the_record_ends_the_session(
    path: Path, script: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: FileStore, n: int, size: int) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    kept = hosted(path)
    for frame in script[:10]:
        kept.answer(frame)
    entries = session_of(kept).entries
    with monkeypatch.context() as patch:
        patch.setattr(FileStore, "stand_at", fail)
        assert not kept.snapshot()
    assert problem_of(kept).slug == "store-failed"
    while not kept.wake():
        """It is made from its store."""
    assert session_of(kept).entries == entries
    kept.close()


CHILD = """
import sys
from pathlib import Path
import msgspec
from tests.runtime.store.test_compaction import OFTEN, hosted
kept = hosted(Path(sys.argv[1]), sys.argv[2])
for n, frame in enumerate(msgspec.msgpack.decode(sys.stdin.buffer.read()), 1):
    kept.answer(frame)
    print(n, flush=True)
    if n % OFTEN == 0:
        kept.snapshot()
"""
#: places, and how often each is passed before the process ends there
PLACES = [
    ("executing", 23), ("executed", 23), ("appending", 23), ("appended", 23), ("snapshot writing", 4),
    ("snapshot written", 4), ("snapshot renamed", 4), ("snapshot recorded", 4), ("compacting", 3),
    ("compacted", 4),
]  # fmt: skip


@pytest.mark.parametrize(("place", "times"), PLACES, ids=[name for name, _ in PLACES])
def test_a_process_that_ends_anywhere_leaves_the_session(
    path: Path, script: list[bytes], place: str, times: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), "process"],
        env={**os.environ, "GRADD_FAILPOINT": f"{place}:{times}"}, stdout=subprocess.PIPE, timeout=PATIENCE,
        input=msgspec.msgpack.encode(script),
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    answered = int(done.stdout.split()[-1])
    kept = hosted(path)
    entries = session_of(kept).entries
    plain, at = opened(), 0
    while at < answered or plain.entries < entries:
        plain.submit(script[at])
        at += 1
    assert answered <= at <= answered + 1
    assert plain.entries == entries
    for frame in script[at:]:
        assert told(frames.join(kept.answer(frame))) == told(plain.submit(frame))
    assert differences(plain, session_of(kept), ignored=["counts"]) == []
    kept.close()
