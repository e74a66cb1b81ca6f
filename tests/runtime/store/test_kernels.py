"""A session that is made again by other kernels than those that had run it: from its latest snapshot on it is
run again, and it says so; what cannot be run again is lost, and its writers with it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradd_engine.backends.array import NUMPY
from gradd_engine.kernels import KernelTable
from gradd_engine.schema.registry import REGISTRY
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.program import Step
from gradd_runtime.session import foreign
from gradd_runtime.store import make_record
from msgspec import UNSET

from tests.runtime.peer import Peer
from tests.runtime.store.scripts import differences, every_kind, opened, told
from tests.runtime.store.test_compaction import hosted, problem_of, session_of, snapshots

pytestmark = pytest.mark.usefixtures("settled")
EXP = Step("exp", [0], {})


class Kept:
    """A session in a store, under kernels that may change while it sleeps."""

    def __init__(self, path: Path, patch: pytest.MonkeyPatch) -> None:
        self._path, self._patch = path, patch
        self.wake("A")
        self.peer = Peer(submit=lambda frame: frames.join(self.hosted.answer(frame)))
        self.peer.put("x", np.linspace(0.1, 1, 4))

    def wake(self, identity: str, exp: Callable[[Any], Any] = lambda values: values) -> Any:
        """Make it again where the kernels are these; what it says of that."""
        if hasattr(self, "hosted"):
            self.hosted.close()
        plain = REGISTRY["exp"].impl
        self._patch.setattr(KernelTable, "identity", property(lambda table: identity))
        self._patch.setitem(NUMPY.kernels, REGISTRY["exp"], lambda *given, **more: exp(plain(*given, **more)))
        self.hosted = hosted(self._path)
        session = self.hosted.session
        return None if session is None else session.restored

    def exp(self) -> bytes:
        """A batch that keeps exp(x) and fetches it: the bits."""
        peer = self.peer
        reply = peer.batch(EXP, inputs=["x"], keep=[1], first=peer.seq + 1, fetch=[1])
        assert reply.problem is None
        return bytes(peer.arrays[0].tobytes())

    def value(self, n: int) -> bytes:
        """The bits of what batch `n` kept."""
        return bytes(self.peer.get(f"@1.{n}").tobytes())

    @property
    def entries(self) -> int:
        return session_of(self.hosted).entries


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    make_record(tmp_path / "record.db")
    return Kept(tmp_path / "record.db", monkeypatch)


def nearly(values: Any) -> Any:
    """What another library of functions may answer."""
    return np.nextafter(values, np.inf, out=values)


def fails(values: Any) -> Any:
    raise RuntimeError("this machine cannot do that")


def test_the_same_kernels_make_it_again_to_the_bit(kept: Kept) -> None:
    before = kept.exp()
    assert kept.wake("A") is UNSET
    assert kept.value(1) == before
    assert b"restored" not in kept.peer.submit(frames.join(frames.encode(m.Info())))


def test_other_kernels_run_again_what_came_after_the_snapshot(kept: Kept, caplog: Any) -> None:
    first = kept.exp()
    kept.hosted.snapshot()
    at = kept.entries
    second = kept.exp()
    kept.peer.put("y", np.ones(2))
    expected = m.Restored(at, 2, 1, 0, "A", "B")
    assert kept.wake("B", nearly) == expected
    assert "other kernels, A: from its snapshot at entry 3, 2 entries were run again, 1 with" in caplog.text
    assert kept.peer.ask(m.Info())[0].session.restored == expected
    assert kept.value(1) == first, "what is in the snapshot stays"
    assert kept.value(2) != second
    np.testing.assert_allclose(np.frombuffer(kept.value(2)), np.frombuffer(second), rtol=1e-15)
    # The stored reply is the new one, and the same writer goes on.
    assert kept.peer.frame(kept.peer.sent[3])[1][0].tobytes() == kept.value(2)
    assert kept.exp() == kept.value(3) == kept.value(2)


def test_what_other_kernels_made_is_not_made_again_by_the_next(kept: Kept) -> None:
    kept.exp()
    kept.wake("B", nearly)
    made = kept.value(1)
    assert len(snapshots(kept._path)) == 1
    found = kept.wake("A")
    assert found.by == "B", "the latest time was the one before"
    assert kept.value(1) == made
    after = kept.exp()
    assert kept.wake("A").by == "B"
    assert (kept.value(1), kept.value(2)) == (made, after)


def test_a_record_that_names_no_kernels_may_be_of_any(kept: Kept) -> None:
    kept.exp()
    kept.hosted.close()
    with sqlite3.connect(kept._path) as file:
        file.executescript("DELETE FROM kernels")
    file.close()
    found = kept.wake("A", nearly)
    assert found == m.Restored(0, 3, 1, 0, "", "A")


def test_what_other_kernels_cannot_run_again_is_lost_and_told(kept: Kept, caplog: Any) -> None:
    first = kept.exp()
    kept.hosted.snapshot()
    at = kept.entries
    kept.exp()
    kept.peer.put("y", np.ones(2))
    found = kept.wake("B", fails)
    assert found == m.Restored(at, 0, 0, 2, "A", "B")
    assert "2 entries are lost" in caplog.text
    assert kept.value(1) == first
    assert kept.peer.get("y").slug == kept.peer.get("@1.2").slug == "tensor-not-found"
    # Who wrote them hears of it.
    refused, _ = kept.peer.frame(kept.peer.sent[3])
    assert refused.problem.slug == "writer-fenced"
    refused, _ = kept.peer.ask(m.Attach(resume=1, epoch=kept.peer.epoch))
    assert refused.problem.slug == "writer-fenced"
    # It stays so, and goes on.
    other = Peer(submit=kept.peer.submit)
    other.put("z", np.ones(3))
    assert kept.wake("B", fails) == found
    assert other.get("z").tolist() == [1, 1, 1]
    kept.hosted.close()
    with sqlite3.connect(kept._path) as file:
        assert file.execute("SELECT count(*) FROM lost").fetchone() == (2,)
    file.close()


def test_without_a_snapshot_nothing_is_given_up(kept: Kept) -> None:
    before = kept.exp()
    kept.wake("B", fails)
    problem = problem_of(kept.hosted)
    assert problem.slug == "store-failed"
    assert "entry 3 was applied under other kernels; replayed, it is " in problem.detail
    kept.wake("A")
    assert kept.value(1) == before


def test_other_kernels_of_the_same_bits_make_the_same_session(kept: Kept, tmp_path: Path) -> None:
    path = tmp_path / "every"
    path.mkdir()
    make_record(path / "record.db")
    plain, other = opened(), hosted(path / "record.db")
    script = every_kind()
    for n, frame in enumerate(script):
        if n in (20, 45):
            other.close()
            kept.wake(f"C{n}")
            other = hosted(path / "record.db")
            assert session_of(other).restored.differing == 0  # type: ignore[union-attr]
        assert told(frames.join(other.answer(frame))) == told(plain.submit(frame))
    assert differences(plain, session_of(other), ignored=["counts"]) == []
    other.close()


@pytest.mark.parametrize(
    ("rows", "after", "first"),
    [
        ([], 0, 1),
        ([(1, "own")], 0, None),
        ([(1, "own")], 7, None),
        ([(1, "A")], 7, 8),
        ([(1, "A"), (8, "own")], 7, None),
        ([(1, "A"), (8, "own")], 6, 7),
        ([(1, "own"), (8, "A")], 3, 8),
        ([(1, "own"), (8, "A"), (8, "own")], 3, 8),
        ([(1, "own"), (8, "A"), (8, "own")], 7, None),
        ([(1, "own"), (8, "A"), (11, "own")], 3, 8),
        ([(5, "own")], 0, 1),
    ],
)
def test_which_entries_may_come_to_other_bits(
    rows: list[tuple[int, str]], after: int, first: int | None
) -> None:
    found = foreign(after, "own", rows)
    assert (None if found is None else found.first) == first
