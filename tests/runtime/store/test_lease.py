"""Leases of a record on shared storage: one claims each number, the record goes on where the latest is, and
who had it before can keep nothing.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_runtime.process import Hosted
from gradd_runtime.process.meter import Meter, MeteredStore
from gradd_runtime.process.place import FilePlace
from gradd_runtime.store import BLOB_BYTES, Entry, LeaseLost, lease, make_record, newest, take

from tests.runtime.peer import FILL, Peer
from tests.runtime.store.scripts import LIMIT, differences, every_kind, opened, told

CLAIM = """
import sys
from pathlib import Path
from gradd_runtime.store import lease
for _ in range(20):
    print(lease._claimed(Path(sys.argv[1]), 1))
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    make_record(tmp_path / "record.db")
    return tmp_path / "record.db"


def place(base: Path, order: int, level: str = "process") -> FilePlace:
    made = FilePlace({"store": str(base), "durability": level, "leased": order})
    made.enter()
    return made


def store_at(place: FilePlace) -> MeteredStore:
    return place.open(Meter())


def hosted(base: Path, order: int, level: str = "process") -> Hosted:
    """The session `script`, not yet awake."""
    from gradd_engine.backends.array import NUMPY

    options = {
        "seed": 5, "quota_bytes": LIMIT, "store": str(base), "durability": level, "leased": order
    }  # fmt: skip
    return Hosted("script", options, NUMPY)


def submit(host: Hosted, frame: bytes) -> bytes:
    while not host.wake(frame):
        """An entry at a time."""
    return frames.join(host.answer(frame))


def frame(n: int, size: int = 8) -> bytes:
    return frames.join(frames.encode(m.PutTensor("x"), [np.full(size, n, np.uint8)]))


def entries(store: MeteredStore) -> list[bytes]:
    return [bytes(entry.frame) for entry in store.entries()]


# -- claims ----------------------------------------------------------------------------------------------


def test_each_number_is_claimed_once(base: Path) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", CLAIM, str(base)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    claimed: list[int] = []
    threads = [
        threading.Thread(target=lambda: claimed.extend([lease._claimed(base, 1) for _ in range(20)]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for process in processes:
        said, _ = process.communicate()
        assert process.returncode == 0
        claimed += map(int, said.split())
    assert sorted(claimed) == list(range(1, 141))


def test_who_was_told_earlier_claims_nothing_later(base: Path) -> None:
    late = FilePlace({"store": str(base), "durability": "process", "leased": 1})
    first = place(base, 2)
    with pytest.raises(LeaseLost):
        late.enter()
    first.enter()
    place(base, 2)  # the same one again, whose first try came to nothing
    with pytest.raises(LeaseLost):
        first.enter()


def test_a_lease_whose_maker_died_before_it_wrote_is_anybodys(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base.with_name("record.lease-1").touch()
    monkeypatch.setattr(lease, "_SAYING_SECONDS", 0.0)
    assert take(base, 1).number == 2


# -- the record goes on ----------------------------------------------------------------------------------


def handed_on(hosted: Callable[[int], Hosted]) -> list[Hosted]:
    """All that had a session, by rising orders, which answered every kind of request, took snapshots, slept
    and just stopped; it is at its end what one is that stayed.
    """
    plain, kept, former = opened(), hosted(1), []
    for n, sent in enumerate(every_kind(), 1):
        assert told(submit(kept, sent)) == told(plain.submit(sent)), n
        if n % 5 == 0:
            assert kept.snapshot()
        if n % 7 == 0:
            if n % 2:
                kept.sleep()
            former.append(kept)
            kept = hosted(n)
    assert kept.wake()
    assert kept.session is not None
    assert differences(plain, kept.session, ignored=["counts"]) == []
    return [*former, kept]


@pytest.mark.parametrize("level", ["process", "disk"])
@pytest.mark.usefixtures("settled")
def test_a_session_goes_from_one_holder_to_the_next(base: Path, level: str) -> None:
    """Every kind of request, snapshots, sleep, and holders that just stop."""
    held = handed_on(lambda order: hosted(base, order, level))
    for one in held:
        one.close()
    assert [path.name for path in base.parent.iterdir() if path.is_dir()] == [newest(base).parent.name]


def test_what_is_in_the_log_and_in_blobs_comes_along(base: Path) -> None:
    one = store_at(place(base, 1))
    kept = [frame(1), frame(2, BLOB_BYTES), frame(3)]
    for n, what in enumerate(kept, 1):
        one.append(Entry(n, what, "applied"))
    one.note(1, "kernels")
    assert newest(base).with_name("record.db-wal").stat().st_size > 0
    two = store_at(place(base, 2))
    assert entries(two) == kept
    assert two.kernels() == [(1, "kernels")]
    assert len(list(newest(base).with_suffix(".blobs").iterdir())) == 1
    one.close()
    two.close()


def test_a_write_that_was_torn_is_left_behind(base: Path) -> None:
    one = store_at(place(base, 1))
    one.append(Entry(1, frame(1), "applied"))
    (segment,) = newest(base).parent.glob("*.log")
    with segment.open("ab") as file:
        file.write(segment.read_bytes()[24:60])
    two = store_at(place(base, 2))
    assert entries(two) == [frame(1)]
    two.append(Entry(2, frame(2), "applied"))
    assert entries(two) == [frame(1), frame(2)]
    one.close()
    two.close()


def test_a_record_without_a_lease_is_where_the_latest_tenure_has_it(base: Path) -> None:
    one = store_at(place(base, 1))
    one.append(Entry(1, frame(1), "applied"))
    one.close()
    plain = FilePlace({"store": str(base), "durability": "process"})
    plain.enter()
    store = store_at(plain)
    assert entries(store) == [frame(1)]
    store.close()


def test_a_record_whose_folder_is_gone_ends_nobody(tmp_path: Path) -> None:
    """The session was deleted before an engine process came to open it."""
    nowhere = tmp_path / "nowhere" / "record.db"
    for leased in ({}, {"leased": 1}):
        made = Hosted("gone", {"store": str(nowhere), "durability": "process", **leased}, _numpy())
        reply = frames.decode_reply(submit(made, frames.join(frames.encode(m.ListTensors()))))[0]
        assert isinstance(reply, m.ProblemReply)
        assert reply.problem.slug == "store-failed"
        made.close()


def _numpy() -> object:
    from gradd_engine.backends.array import NUMPY

    return NUMPY


# -- who had it before -----------------------------------------------------------------------------------


def test_a_former_holder_keeps_nothing(base: Path) -> None:
    one = store_at(place(base, 1))
    one.append(Entry(1, frame(1), "applied"))
    two = store_at(place(base, 2))
    with pytest.raises(LeaseLost) as lost:
        one.append(Entry(2, frame(9), "applied"))
    assert lost.value.errno == errno.ESTALE
    for refused in (
        lambda: one.append(Entry(3, frame(9), "applied")), lambda: one.write([b"snapshot"], 1),
        lambda: one.stand_at(1, 1), one.probe,
    ):  # fmt: skip
        with pytest.raises(LeaseLost):
            refused()
    two.append(Entry(2, frame(2), "applied"))
    assert entries(two) == [frame(1), frame(2)]
    assert list(newest(base).parent.glob("*.safetensors")) == []
    one.close()
    two.close()


@pytest.mark.usefixtures("settled")
def test_a_session_that_is_elsewhere_says_so(base: Path) -> None:
    one = hosted(base, 1)
    writer = Peer(submit=lambda sent: submit(one, sent))
    writer.batch(FILL, keep=[0], first=1)
    two = hosted(base, 2)
    assert not isinstance(frames.decode_reply(submit(two, frame(1)))[0], m.ProblemReply)
    for _ in range(2):
        reply = writer.batch(FILL, keep=[0], first=2)
        assert isinstance(reply, m.ProblemReply)
        assert reply.problem.slug == "store-failed"
    assert not one.snapshot()
    assert not one.sleep()
    one.close()
    two.close()


# -- the copy --------------------------------------------------------------------------------------------


def test_the_copy_waits_for_who_writes_still(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = store_at(place(base, 1))
    one.append(Entry(1, frame(1), "applied"))
    copy, copied = lease._copy, []

    def copying(source: Path, target: Path) -> None:
        copy(source, target)
        copied.append(source.name)
        if len(copied) == 1:
            with pytest.raises(LeaseLost):
                one.append(Entry(2, frame(2), "applied"))

    monkeypatch.setattr(lease, "_copy", copying)
    two = store_at(place(base, 2))
    assert len(copied) > len(set(copied))
    assert entries(two) == [frame(1), frame(2)]  # which may be there, and was not acknowledged
    one.close()
    two.close()


def test_the_copy_gives_up_on_who_writes_for_ever(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = place(base, 1)
    copy, now = lease._copy, [0.0]

    def copying(source: Path, target: Path) -> None:
        copy(source, target)
        with first.path.with_name("record-more.log").open("ab") as file:
            file.write(b"x")

    def sleep(seconds: float) -> None:
        now[0] += seconds

    with monkeypatch.context() as patch:
        patch.setattr(lease, "_copy", copying)
        patch.setattr(lease, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
        with pytest.raises(OSError, match="written by somebody else") as refused:
            take(base, 2)
    assert refused.value.errno == errno.EBUSY
    assert now[0] > lease.QUIET_SECONDS
    with pytest.raises(LeaseLost):
        first.enter()
    first.path.with_name("record-more.log").unlink()
    assert take(base, 3).number == 3


def test_a_take_that_ended_half_way_does_not_matter(base: Path) -> None:
    one = store_at(place(base, 1))
    one.append(Entry(1, frame(1), "applied"))
    lease._claimed(base, 2)
    half = base.with_name("record.tenure-2.new")
    half.mkdir()
    (half / "record.db").write_bytes(b"half")
    two = place(base, 3)
    assert two.path.parent.name == "record.tenure-3"
    store = store_at(two)
    assert entries(store) == [frame(1)]
    assert not half.exists()
    one.close()
    store.close()


def test_a_copy_of_what_is_being_removed_does_not_count(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One who was overtaken ends its copy, and removes the folder that the later one copies."""
    one = store_at(place(base, 1))
    one.append(Entry(1, frame(1), "applied"))
    source = newest(base).parent
    copied = lease._listed
    first = [True]

    def listed(record: Path) -> dict[str, tuple[int, int]]:
        if record.parent == source and first.pop() if first else False:
            os.rename(_whole_copy(base, 2), base.with_name("record.tenure-2"))
            for segment in source.glob("*.log"):
                segment.unlink()
        return copied(record)

    lease._claimed(base, 2)
    monkeypatch.setattr(lease, "_listed", listed)
    two = store_at(place(base, 3))
    assert entries(two) == [frame(1)]
    one.close()
    two.close()


def _whole_copy(base: Path, number: int) -> Path:
    made = base.with_name(f"record.tenure-{number}.new")
    made.mkdir()
    for file in newest(base).parent.iterdir():
        (made / file.name).write_bytes(file.read_bytes())
    return made


def test_one_who_is_overtaken_while_it_copies_stops(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy, later = lease._copy, []

    def copying(source: Path, target: Path) -> None:
        if not later:
            later.append(0)
            later[0] = take(base, 2).number
        copy(source, target)

    monkeypatch.setattr(lease, "_copy", copying)
    with pytest.raises(LeaseLost):
        place(base, 1)
    assert later == [2]
    assert newest(base).parent.name == "record.tenure-2"


def test_a_storage_without_hard_links_will_do(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*paths: Path) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    one = store_at(place(base, 1))
    one.append(Entry(1, frame(1, BLOB_BYTES), "applied"))
    one.write([b"a snapshot"], 1)
    one.stand_at(1, 1)
    monkeypatch.setattr(os, "link", link)
    two = store_at(place(base, 2))
    with two.snapshot(1) as file:
        assert file.read() == b"a snapshot"
    assert entries(two) == [frame(1, BLOB_BYTES)]
    one.close()
    two.close()


@pytest.mark.parametrize("level", ["process", "disk"])
def test_at_level_disk_what_was_copied_is_there(
    base: Path, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    one = store_at(place(base, 1))
    one.append(Entry(1, frame(1, BLOB_BYTES), "applied"))
    synced: set[str] = set()
    monkeypatch.setattr(lease, "_sync", lambda path: synced.add(path.name))
    two = place(base, 2, level)
    there = {path.name for path in two.path.parent.rglob("*")}
    assert len(there) > 3
    if level == "disk":
        assert synced == {*there, "record.tenure-2.new", base.parent.name}
    else:
        assert synced == set()
    one.close()
