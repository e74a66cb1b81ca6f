"""Disks that fill up or fail, and records that are damaged, under a session that is hosted.

`GRADD_CUTS` says at how many places a record is cut (`make faults`: 1,000; `make soak`: at every byte),
`GRADD_FLIPS` how many bits are turned (`make faults`: 10,000).
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradd_engine.backends.array import NUMPY
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_runtime.process import Hosted, hosting
from gradd_runtime.store import BLOB_BYTES, LEVELS, FileStore, make_record

from tests.runtime.peer import FILL, Peer

CUTS = int(os.environ.get("GRADD_CUTS", "40"))
FLIPS = int(os.environ.get("GRADD_FLIPS", "60"))


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "record.db"
    make_record(path)
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
        append, probe = FileStore.append, FileStore.probe

        def guarded(real: Any) -> Any:
            def write(store: FileStore, *given: Any) -> None:
                if self.error is not None:
                    raise self.error
                real(store, *given)

            return write

        patch.setattr(FileStore, "append", guarded(append))
        patch.setattr(FileStore, "probe", guarded(probe))


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


@pytest.mark.parametrize("which", ["record", "segment"])
@pytest.mark.parametrize("harm", ["gone", "noise", "cut", "changed"])
def test_a_damaged_record_is_told_and_left(record: Path, which: str, harm: str) -> None:
    host = hosted(record)
    peer(host).put("x", np.ones(3))
    host.close()
    (segment,) = record.parent.glob("*.log")
    file = record if which == "record" else segment
    if harm == "gone":
        file.unlink()
    else:
        data = file.read_bytes()
        at = data.index(b"record-" if which == "record" else b"put-tensor")
        changed = {"noise": data[::-1], "cut": data[: at + 3], "changed": data[:at] + b"R" + data[at + 1 :]}
        file.write_bytes(changed[harm])
    before = _bytes_of(record, segment)
    again = hosted(record)
    for _ in range(2):
        reply, _ = frames.decode_reply(submit(again, frames.join(frames.encode(m.Info()))))
        assert reply.problem.slug == "store-failed"
        assert "record" in reply.problem.detail or "entry" in reply.problem.detail
    again.close()
    assert _bytes_of(record, segment) == before


def _bytes_of(*files: Path) -> list[bytes | None]:
    return [file.read_bytes() if file.exists() else None for file in files]


@pytest.mark.parametrize("error", [RuntimeError("a bug"), MemoryError()], ids=repr)
def test_whatever_keeps_a_session_from_being_made_is_told(
    record: Path, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = hosted(record)
    peer(host).put("x", np.ones(3))
    host.close()

    def fail(*args: object) -> Any:
        raise error

    again = hosted(record)
    with monkeypatch.context() as patch:
        patch.setattr(hosting, "replaying", fail)
        refused, _ = frames.decode_reply(submit(again, frames.join(frames.encode(m.Info()))))
    assert refused.problem.slug == "store-failed"
    reply, _ = frames.decode_reply(submit(again, frames.join(frames.encode(m.Info()))))
    assert isinstance(reply, m.SessionReply) == (refused.problem.retry_after is not None)
    again.close()


# -- a disk that is full --------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB."""
    home = tmp_path / "small"
    home.mkdir()
    made = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(home)], capture_output=True, text=True
    )
    if not made or made.returncode:
        pytest.skip("no tmpfs can be mounted here")
    yield home
    subprocess.run(["umount", "-l", str(home)], check=True)  # a test that failed may have files open


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("size", [2_000, 200_000])  # in the record, in blobs
def test_a_disk_that_is_full_loses_nothing(small: Path, tmp_path: Path, level: str, size: int) -> None:
    records = small / "record.db", tmp_path / "record.db"
    for record in records:
        make_record(record)
    host, other = (Hosted("kept", {"store": str(record), "durability": level}, NUMPY) for record in records)
    one, neighbour = peer(host), peer(other)
    filler = small / "filler"
    kept: dict[str, float] = {}
    full = 0
    for n in range(60):
        if n % 20 == 15:
            room = shutil.disk_usage(small).free
            filler.write_bytes(bytes(max(room - 40_000 * (n // 20), 0)))
        if n % 20 == 0:
            filler.unlink(missing_ok=True)
        frame = frames.join(frames.encode(m.PutTensor(f"x{n % 5}"), [np.full(size, float(n))]))
        reply, _ = one.frame(frame)
        if isinstance(reply, m.ProblemReply):
            assert (reply.problem.slug, reply.problem.retry_after) == ("disk-full", 1)
            full += 1
        else:
            kept[f"x{n % 5}"] = float(n)
        assert isinstance(neighbour.frame(frame)[0], m.Done)
    assert full
    filler.unlink(missing_ok=True)
    host.close()
    again = hosted(records[0])
    found = {name: peer(again).get(name) for name in kept}
    assert {name: a.tolist() for name, a in found.items()} == {name: [v] * size for name, v in kept.items()}
    again.close()
    other.close()


# -- records that are cut, and bits that are turned -------------------------------------------------------


class Kept:
    """The files of a session that was killed, and what it was after each entry."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir()
        record = home / "record.db"
        make_record(record)
        host = hosted(record)
        one = peer(host)
        self.states: list[dict[str, Any]] = [{}, {}]
        self.sizes = []
        for n in range(8):
            large = n == 3  # a blob
            one.put(f"x{n % 3}", np.full(BLOB_BYTES // 8 if large else 3, float(n)))
            self.states.append(_values(one))
            (self.log,) = home.glob("*.log")
            self.sizes.append(self.log.stat().st_size)
        self.files = {path: path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file()}
        host.close()
        self.closed = {path: path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file()}

    def lay(self, files: dict[Path, bytes]) -> None:
        """Have these files, and no others."""
        for path in self.home.rglob("*"):
            if path.is_file() and path not in files:
                path.unlink()
        for path, data in files.items():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)

    def found(self) -> int | None:
        """How many entries the session has that is made of the files; None where they are refused. What it is
        after so many is compared.
        """
        host = hosted(self.home / "record.db")
        while not host.wake():
            pass
        try:
            if host.session is None:
                refused, _ = frames.decode_reply(submit(host, frames.join(frames.encode(m.Info()))))
                assert refused.problem.slug == "store-failed"
                return None
            entries = host.session.entries
            one = peer_of(host)
            assert _values(one) == self.states[entries], entries
            return entries
        finally:
            host.close()


def peer_of(host: Hosted) -> Peer:
    """One that only looks."""
    one = object.__new__(Peer)
    one.submit, one.sent, one.replies = lambda frame: submit(host, frame), [], []
    return one


def _values(one: Peer) -> dict[str, Any]:
    listed, _ = one.ask(m.ListTensors())
    return {t.name: (one.get(t.name).shape, one.get(t.name).flat[0]) for t in listed.tensors}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(tmp_path_factory.mktemp("kept") / "session")


def test_a_record_cut_at_every_byte_of_its_end(kept: Kept, tally: Callable[..., None]) -> None:
    """Of a session that was killed: what is whole is there."""
    log = kept.log
    begin, end = kept.sizes[-2], kept.sizes[-1]
    cuts = range(begin, end + 1, max(1, (end - begin) // CUTS))
    for cut in cuts:
        kept.lay({**kept.files, log: kept.files[log][:cut]})
        assert kept.found() == len(kept.sizes) + (cut == end), cut
    tally("records cut in their last entry", len(cuts))


def test_a_closed_record_that_is_shorter_is_told(kept: Kept, tally: Callable[..., None]) -> None:
    count = 0
    for file in (kept.home / "record.db", kept.log):
        size = len(kept.closed[file])
        cuts = range(0, size, max(1, 2 * size // CUTS))
        for cut in cuts:
            kept.lay({**kept.closed, file: kept.closed[file][:cut]})
            assert kept.found() is None, (file.name, cut)
        count += len(cuts)
    tally("closed records cut", count)


@pytest.mark.parametrize("how", ["killed", "closed"])
def test_turned_bits_make_no_other_session(kept: Kept, how: str, tally: Callable[..., None]) -> None:
    """Those in a killed session's last entry may cost it, for they are like a write that was torn; those in
    SQLite's log what SQLite wrote last.
    """
    files = kept.files if how == "killed" else kept.closed
    random = np.random.default_rng(FLIPS)
    whole, turned = len(kept.states) - 1, 0
    for path, data in files.items():
        share = FLIPS // 2 // len(files)
        for at in random.integers(0, 8 * len(data), share):
            harmed = bytearray(data)
            harmed[at // 8] ^= 1 << (at % 8)
            kept.lay({**files, path: bytes(harmed)})
            entries = kept.found()
            lost = (whole - 1,) if how == "killed" and at // 8 >= kept.sizes[-2] and path == kept.log else ()
            assert entries in (None, whole, *lost), (path.name, at)
            turned += 1
    tally(f"bits turned in the files of a {how} session", turned)
