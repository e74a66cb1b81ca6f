"""Records in an object store: a server that speaks S3 is here, and goes away now and then."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_runtime.process import Hosted
from gradd_runtime.process import shipped as copies
from gradd_runtime.process.meter import Meter, MeteredStore
from gradd_runtime.process.place import BucketPlace
from gradd_runtime.store import BLOB_BYTES, Bucket, Damaged, Entry, LeaseLost, ObjectLog, places

from tests.objectstore import ObjectStore, reached, serving
from tests.runtime.store.scripts import LIMIT, differences, opened, told
from tests.runtime.store.test_lease import frame, handed_on, submit


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectStore]:
    with serving() as store:
        yield store


@pytest.fixture
def store(server: ObjectStore) -> Iterator[ObjectStore]:
    with reached(server):
        yield server


@pytest.fixture
def bucket(store: ObjectStore) -> Bucket:
    return Bucket(store.url)


def hosted(store: ObjectStore, order: int = 0) -> Hosted:
    """The session `script`, not yet awake."""
    from gradd_engine.backends.array import NUMPY

    options = {
        "seed": 5, "quota_bytes": LIMIT, "store": f"{store.url}/tenant/a", "durability": "process",
        "leased": order,
    }  # fmt: skip
    return Hosted("script", options, NUMPY)


# -- buckets -----------------------------------------------------------------------------------------------


def test_an_object_is_made_once(bucket: Bucket) -> None:
    assert bucket.create("a/b", b"one")
    assert not bucket.create("a/b", b"two")
    assert bucket.create("a/b", b"one")  # asked twice, for want of an answer
    assert bucket.read("a/b") == b"one"
    bucket.write("a/b", b"two")
    assert bucket.read_all(["a/b"]) == {"a/b": b"two"}


def test_a_large_object_is_made_once(bucket: Bucket) -> None:
    large = bytes(101 << 20)  # in several parts
    assert bucket.create("a", large)
    assert not bucket.create("a", bytes(1) + large)
    assert bucket.sizes("") == {"a": len(large)}


def test_what_there_is(bucket: Bucket, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"123")
    bucket.upload(file, "x/y/1")
    bucket.write("x/2", b"")
    assert bucket.sizes("x") == {"2": 0}
    assert bucket.sizes("x", depth=2) == {"2": 0, "y/1": 3}
    assert bucket.sizes("nothing") == {}
    assert bucket.sizes(depth=None) == {"x/2": 0, "x/y/1": 3}
    assert (bucket.folders("x"), bucket.folders("nothing")) == (["y"], [])
    assert bucket.size("x/y/1") == 3
    assert abs(bucket.times("x/y")["1"] - time.time()) < 3600
    assert (bucket.exists("x/2"), bucket.exists("x/3")) == (True, False)
    bucket.download("x/y/1", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == b"123"
    bucket.copy(f"{bucket.url}/x/y/1", "z")
    assert bucket.read("z") == b"123"
    bucket.remove(["x/2", "x/2", "x/3", "z"])
    bucket.remove([])
    assert bucket.sizes("x", depth=2) == {"y/1": 3}
    assert bucket.read_all(["x/y/1", "x/y/1"]) == {"x/y/1": b"123"}
    assert bucket.read_all([]) == {}
    for missing in (bucket.read, lambda name: bucket.read_all(["x/y/1", name])):
        with pytest.raises(FileNotFoundError):
            missing("x/3")


def test_a_store_that_keeps_no_promise_is_told(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket.verify()
    assert bucket.sizes("") == {}
    monkeypatch.setattr(Bucket, "create", lambda self, name, data: self.write(name, data) or True)
    with pytest.raises(OSError, match="replaces an object that was to be made only if new"):
        bucket.verify()
    with pytest.raises(OSError, match=r"pip install 'gradd\[s3\]'"):
        Bucket("nowhere://a")


def test_a_store_that_is_away_is_an_oserror(store: ObjectStore, bucket: Bucket) -> None:
    store.stop()
    try:
        for call in (lambda: bucket.read("a"), lambda: bucket.create("a", b""), lambda: bucket.exists("a")):
            with pytest.raises(OSError, match="Could not connect"):
                call()
        with pytest.raises(OSError, match=r"Could not connect.*probe"):  # what it was asked first
            bucket.verify()
    finally:
        store.start()
    assert bucket.create("a", b"")


# -- sessions ----------------------------------------------------------------------------------------------


def test_a_session_goes_on_from_object_to_object(store: ObjectStore) -> None:
    for one in handed_on(lambda order: hosted(store, order)):
        one.close()


def test_who_had_it_before_appends_nothing(store: ObjectStore, bucket: Bucket) -> None:
    one = hosted(store, 1)
    submit(one, frame(1))
    two = hosted(store, 2)
    while not two.wake():
        """An entry at a time."""
    before = bucket.sizes("tenant/a/log")
    message, _ = frames.decode_reply(submit(one, frame(2)))
    assert isinstance(message, m.ProblemReply)
    assert message.problem.slug == "store-failed"
    assert bucket.sizes("tenant/a/log") == before
    while not one.wake(frame(2)):
        """It is refused."""
    assert bucket.sizes("tenant/a/log") == before
    assert two.session is not None
    assert two.session.entries == 1
    one.close()
    two.close()


def test_an_older_order_begins_no_tenure(bucket: Bucket) -> None:
    ObjectLog(bucket, "a", 2).begin()
    with pytest.raises(LeaseLost):
        ObjectLog(bucket, "a", 1).begin()
    ObjectLog(bucket, "a", 2).begin()


def test_large_buffers_come_along(store: ObjectStore) -> None:
    one = hosted(store)
    sent = frame(7, BLOB_BYTES)
    reply = told(submit(one, sent))
    one.close()
    two = hosted(store)
    while not two.wake():
        """An entry at a time."""
    assert two.session is not None
    plain = opened()
    assert told(plain.submit(sent)) == reply
    assert differences(plain, two.session, ignored=["counts"]) == []
    two.close()


def test_a_store_that_goes_away_costs_no_entry(store: ObjectStore) -> None:
    kept, plain = hosted(store), opened()
    assert told(submit(kept, frame(1))) == told(plain.submit(frame(1)))
    store.stop()
    try:
        message, _ = frames.decode_reply(submit(kept, frame(2)))
        assert isinstance(message, m.ProblemReply)
        assert message.problem.slug == "store-failed"
    finally:
        store.start()
    assert told(submit(kept, frame(3))) == told(plain.submit(frame(3)))
    assert kept.session is not None
    assert differences(plain, kept.session, ignored=["counts"]) == []
    kept.close()


def test_what_snapshots_stand_for_goes(store: ObjectStore, bucket: Bucket) -> None:
    kept = hosted(store)
    for n in range(4):
        for _ in range(3):
            submit(kept, frame(n))
        assert kept.snapshot()
        assert len(bucket.sizes("tenant/a/snapshots")) == min(n + 1, 2)
    # the tenure, and from the snapshot before the latest on: that, three entries, the latest
    assert len(bucket.sizes("tenant/a/log")) == 6
    kept.close()


def test_a_snapshot_that_the_log_does_not_know_goes(
    store: ObjectStore, bucket: Bucket, tmp_path: Path
) -> None:
    log = ObjectLog(bucket, "tenant/a")
    log.begin()
    (tmp_path / "file").write_bytes(b"a snapshot")
    log.upload(tmp_path / "file", 3)
    assert len(bucket.sizes("tenant/a/snapshots")) == 1
    ObjectLog(bucket, "tenant/a").begin()
    assert bucket.sizes("tenant/a/snapshots") == {}


@pytest.mark.parametrize("harm", ["gone", "turned", "cut", "empty"])
def test_a_log_that_was_harmed_is_told(store: ObjectStore, bucket: Bucket, harm: str) -> None:
    kept = hosted(store)
    for n in range(3):
        submit(kept, frame(n))
    kept.close()
    name = "tenant/a/log/000000000002"
    data = bytearray(bucket.read(name))
    if harm == "gone":
        bucket.remove([name])
    elif harm == "turned":
        data[len(data) // 2] ^= 1
        bucket.write(name, bytes(data))
    else:
        bucket.write(name, bytes(data[: 9 if harm == "cut" else 0]))
    with pytest.raises(Damaged, match="item 2"):
        ObjectLog(bucket, "tenant/a").begin()


def test_the_other_snapshot_will_do(store: ObjectStore, bucket: Bucket) -> None:
    kept, plain = hosted(store), opened()
    for n in range(4):
        assert told(submit(kept, frame(n))) == told(plain.submit(frame(n)))
        if n in (1, 2):
            assert kept.snapshot()
    kept.close()
    (latest,) = (name for name in bucket.sizes("tenant/a/snapshots") if name.startswith("3-"))
    bucket.remove([f"tenant/a/snapshots/{latest}"])
    again = hosted(store)
    while not again.wake():
        """An entry at a time."""
    assert again.session is not None
    assert differences(plain, again.session, ignored=["counts"]) == []
    again.close()


def test_copies_of_processes_that_were_killed_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies.tempfile, "tempdir", str(tmp_path))
    copies._folder.cache_clear()
    try:
        (tmp_path / "gradd-records-4194305-x").mkdir()  # no process has that number
        (tmp_path / f"gradd-records-{os.getppid()}-x").mkdir()
        (tmp_path / "gradd-records-other").mkdir()
        made = copies.new_folder()
        assert {path.name for path in tmp_path.iterdir()} == {
            made.parent.name, f"gradd-records-{os.getppid()}-x", "gradd-records-other",
        }  # fmt: skip
    finally:
        copies._folder.cache_clear()


def test_a_copy_goes_with_who_has_it(store: ObjectStore) -> None:
    kept = hosted(store)
    submit(kept, frame(1, BLOB_BYTES))
    submit(kept, frames.join(frames.encode(m.GetTensor("x"))))
    place = kept._place
    assert isinstance(place, BucketPlace)
    assert len(list(place._folder.iterdir())) > 2
    assert kept.sleep()
    assert [path.name for path in place._folder.iterdir()] == ["record.asleep"]
    told, _ = frames.decode_reply(submit(kept, frames.join(frames.encode(m.Info()))))
    assert told.session.asleep
    assert told.session.messages == 2
    submit(kept, frame(2))
    again, _ = frames.decode_reply(submit(kept, frames.join(frames.encode(m.Info()))))
    assert again.session.messages == 4  # what only read is in no entry
    folder = place._folder
    kept.close()
    del kept, place
    gc.collect()
    assert not folder.exists()


def test_it_is_known_which_kernels_ran_what(store: ObjectStore) -> None:
    """As a record in files has it, however often it goes from one to the next."""

    places = []  # whose copies are there as long as they are

    def opened_at(order: int) -> MeteredStore:
        places.append(BucketPlace({"store": f"{store.url}/tenant/a", "leased": order}))
        places[-1].enter()
        return places[-1].open(Meter())

    for n, identity in enumerate(["one", "one", "two", "two", "one"], 1):
        record = opened_at(n)
        record.note(n, identity)
        record.append(Entry(n, frame(n), "applied"))
        if n in (2, 3, 4):
            record.write([b"a snapshot"], n)
            record.stand_at(n, 10)
            assert record.kernels()[-1][1] == identity
        record.close()
    record = opened_at(6)
    assert record.kernels() == [(1, "one"), (3, "two"), (5, "one")]
    assert record.snapshots() == [4, 3, 2]
    record.compact()
    record.close()
    record = opened_at(7)
    assert record.kernels() == [(1, "one"), (3, "two"), (5, "one")]
    assert record.snapshots() == [4, 3]
    assert [entry.n for entry in record.entries(4)] == [5]
    record.close()


# -- places ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["file", "object"])
def test_what_is_written_at_a_place_is_there_in_whole_or_not_at_all(
    store: ObjectStore, tmp_path: Path, kind: str
) -> None:
    home = str(tmp_path) if kind == "file" else f"{store.url}/incoming"
    with places.writing(f"{home}/a") as file:
        file.write(b"12")
        file.write(b"3")
    assert places.size_of(f"{home}/a") == 3
    places.link(f"{home}/a", f"{home}/b")
    places.remove(f"{home}/a")
    places.remove(f"{home}/a")
    with places.reading(f"{home}/b") as read:
        assert read.read() == b"123"
    for missing in (places.reading, places.size_of, lambda place: places.link(place, f"{home}/d")):
        with pytest.raises(FileNotFoundError):
            missing(f"{home}/a")
    with pytest.raises(ZeroDivisionError), places.writing(f"{home}/c") as file:
        file.write(bytes(10 // 0))
    with pytest.raises(FileNotFoundError):
        places.size_of(f"{home}/c")
