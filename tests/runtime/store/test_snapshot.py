"""A session of a snapshot answers what comes as the session that it was taken of does: byte by byte."""

from __future__ import annotations

import io
import json
import os
import random
from typing import Any

import gradd
import numpy as np
import pytest
from gradd_engine.freezing import CannotFreeze
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.problems import ProtocolError
from gradd_protocol.program import Step
from gradd_protocol.safetensors import head
from gradd_runtime.process import InlinePlacement
from gradd_runtime.session import Session, image, replay
from gradd_runtime.store import BadSnapshot, Snapshot, parts, read
from gradd_runtime.tensors import Marks

from tests.runtime.peer import FILL, Peer
from tests.runtime.plan.test_plans import _train, random_program, told
from tests.runtime.session.test_json_batches import run, step
from tests.runtime.session.test_json_hooks import SCALE, hooks, put
from tests.runtime.store.scripts import ListStore, differences, every_kind, opened

PROGRAMS = int(os.environ.get("GRADD_SNAPSHOTS", "120"))
Frames = dict[str, list[bytes]]


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Frames:
    """The frames that each session of this process was sent."""
    found: Frames = {}
    real = InlinePlacement._run

    def run(self: InlinePlacement, name: str, frame: Any) -> bytes:
        found.setdefault(name, []).append(bytes(frame))
        return real(self, name, frame)

    monkeypatch.setattr(InlinePlacement, "_run", run)
    return found


def frozen(session: Session) -> bytes:
    return frames.join(session.freeze())


def restored(session: Session) -> Session:
    """The session that a snapshot of `session` gives; that gives the same snapshot."""
    data = frozen(session)
    other = Session.thaw(io.BytesIO(data))
    assert frozen(other) == data, "a restored session is frozen as something else"
    return other


def goes_on(sent: list[bytes], at: int) -> bool:
    """Whether a session could be frozen after so many frames; it and its copy then answer the rest alike."""
    session = Session("test")
    for frame in sent[:at]:
        session.submit(frame)
    try:
        other = restored(session)
    except CannotFreeze:  # a pass is under way
        return False
    for n, frame in enumerate(sent[at:]):
        one, two = session.submit(frame), other.submit(frame)
        assert one == two or told(one) == told(two), f"frame {at} + {n}: {frame[:2000]!r}"
    assert frozen(session) == frozen(other)
    return True


@pytest.mark.parametrize("part", range(4))
def test_random_programs_go_on(recorded: Frames, part: int) -> None:
    done = 0
    for seed in range(part, PROGRAMS, 4):
        name, script = random_program(seed, "snapshots")
        sent = recorded.pop(name)
        try:
            done += goes_on(sent, random.Random(seed).randrange(1, len(sent) + 1))
        except AssertionError as error:
            error.add_note(f"seed {seed}:\n" + "\n".join(script.log))
            raise
    assert done > PROGRAMS // 5


def test_training_goes_on_from_anywhere(recorded: Frames) -> None:
    with gradd.connect("local:", session="train") as session:
        _train(gradd.optim.AdamW, lr=0.01)
        name = session.name
    sent = [f for f in recorded[name] if not isinstance(frames.decode_request(f)[0], m.ProfileSwitch)]
    for at in range(1, len(sent) + 1):
        assert goes_on(sent, at)


# -- what a session has besides tensors --------------------------------------------------------------


@pytest.fixture
def peer() -> Peer:
    peer = Peer()
    peer.put("w", np.array([1.0, 2.0], np.float32), requires_grad=True)
    return peer


def follow(peer: Peer) -> Peer:
    """A peer of the restored session, which goes on as `peer` does."""
    other = object.__new__(Peer)
    other.__dict__.update(peer.__dict__)
    other.session = restored(peer.session)
    other.submit, other.sent, other.replies = other.session.submit, [], []
    return other


def test_writers_and_their_stored_replies(peer: Peer) -> None:
    peer.batch(FILL, keep=[0], first=1)
    sent = peer.sent[-1]
    other = follow(peer)
    assert (reply := other.frame(sent)) == peer.frame(sent)
    assert reply[0].replayed
    for asked in (
        m.Attach("test", resume=1, epoch=1),
        m.Attach("test"),
        m.GetReply(1, 1),
        m.Acquire(),
        m.Info(),
    ):
        assert other.ask(asked) == peer.ask(asked)


def test_a_failure_that_its_writer_has_not_seen(peer: Peer) -> None:
    peer.batch(Step("index", [0, [0]], {}), inputs=["w"])
    other = follow(peer)
    late = peer.message(FILL, ack=0)
    assert other.ask(late) == peer.ask(late)
    assert frames.decode_reply(other.replies[-1])[0].skipped  # type: ignore[union-attr]


def test_others_changes_are_told(peer: Peer) -> None:
    second = Peer(peer.session)
    second.put("v", np.ones(3))
    other = follow(peer)
    assert other.batch(FILL) == (told := peer.batch(FILL))
    assert [info.name for info in told.changed] == ["w", "v"]


def test_ids_and_names_in_their_order(peer: Peer) -> None:
    peer.batch(FILL, keep=[0], first=1, bind={"b": "@1.1", "a": "@1.1"})
    peer.put("c", np.zeros(()))
    other = follow(peer)
    assert other.ask(m.ListTensors()) == peer.ask(m.ListTensors())
    assert list(other.session.table.calls(other.session.table.find("a"))) == ["@1.1", "b", "a"]


def test_uploads_and_pinned_results_wait(peer: Peer) -> None:
    large = np.arange(100_000, dtype=np.complex128)
    peer.ask(m.Stage("1.7"), [large])
    peer.put("big", large)
    reply = peer.batch(Step("mul", [0, 0], {}), inputs=["big"], fetch=[1])
    other = follow(peer)
    key = reply.results[0].pinned
    assert key is not None
    for p in (peer, other):
        _, (values,) = p.ask(m.GetResult(key))
        assert values.reshape(-1).view(np.complex128).tolist() == (large * large).tolist()
    up = Step("upload", [], {"shape": [100_000], "dtype": "complex128"})
    assert other.batch(up, uploads=["1.7"], fetch=[0]) == peer.batch(up, uploads=["1.7"], fetch=[0])


def test_answers_under_keys(peer: Peer) -> None:
    body = {"steps": [step("mul", "w", 2.0, out=["y"])], "fetch": ["y"]}
    first = peer.json(body, idempotency_key="k")
    other = follow(peer)
    assert other.json(body, idempotency_key="k") == first
    assert other.json({"steps": []}, idempotency_key="k") == peer.json({"steps": []}, idempotency_key="k")
    assert other.session.position == peer.session.position


def test_hooks_over_rest_stay_where_they_hang(peer: Peer) -> None:
    run(peer, step("mul", "w", 3.0, out=["h"]), step("sum", "h", out=["loss"]))
    put(peer, "last", tensor="h", kind="prehook", **{**SCALE, "inputs": ["%g"]})
    put(peer, "scale", tensor="w", **SCALE)
    put(peer, "seen", tensor="w", kind="post_accumulate", steps=[step("mul", "w", 5.0, out=["out"])])
    run(peer, step("mul", "w", 1.0, out=["w2"]))
    peer.ask(m.DeleteTensor("h"))
    other = follow(peer)
    for p in (peer, other):
        run(p, step("backward", "loss"))
    assert hooks(other) == hooks(peer)
    assert other.get("w.grad").tolist() == peer.get("w.grad").tolist() == [300.0, 300.0]
    assert other.get("out").tolist() == peer.get("out").tolist()
    other.ask(m.DeleteHook("scale"))
    run(other, step("sum", "w", out=["l"]), step("backward", "l"))
    assert other.get("w.grad").tolist() == [301.0, 301.0]


def test_the_account_is_as_it_was(peer: Peer) -> None:
    peer.batch(FILL, keep=[0], first=1)
    other = restored(peer.session)
    assert other.account.used == peer.session.account.used
    assert other.account.limit == peer.session.account.limit
    peer.session.admitted.clear()
    peer.session.plans.counts["bytes"] = 0
    peer.session.settle()
    assert other.account.other == peer.session.account.other


def test_another_name_and_quota(peer: Peer) -> None:
    other = Session.thaw(io.BytesIO(frozen(peer.session)), name="fork", limit=1 << 20)
    assert (other.name, other.account.limit) == ("fork", 1 << 20)
    assert other.info().name == "fork"


def test_a_pass_under_way_postpones(peer: Peer) -> None:
    steps = [Step("sum", [0], {}), Step("begin_backward", [[1], None, None], {})]
    reply = peer.batch(*steps, inputs=["w"], keep=[2], first=2)
    assert reply.problem is None
    with pytest.raises(CannotFreeze, match="a backward pass is under way"):
        peer.session.freeze()
    peer.batch(free=["@1.2"])
    assert restored(peer.session).position == peer.session.position


# -- the file ----------------------------------------------------------------------------------------


def test_other_readers_find_what_was_named(peer: Peer, tmp_path: Any) -> None:
    st = pytest.importorskip("safetensors.numpy")
    peer.put("flags", np.array([True, False]))
    peer.put("z", np.array([[1 + 2j, 3]]))
    peer.put("__metadata__", np.zeros(2))
    run(peer, step("mul", "w", "w", out=["y"]), step("sum", "y", out=["l"]), step("backward", "l"))
    run(peer, step("t", "z", out=["zt"]), step("expand", "w", out=["wide"], size=[3, 2]))
    run(peer, step("expand", "w", out=["huge"], size=[100_000_000, 2]))
    (tmp_path / "s.safetensors").write_bytes(frozen(peer.session))
    found = st.load_file(tmp_path / "s.safetensors")
    named = {name: a.tolist() for name, a in found.items() if not name.startswith("gradd/")}
    assert named == {
        "w": [1.0, 2.0], "w.grad": [2.0, 4.0], "flags": [True, False], "y": [1.0, 4.0], "l": 5.0,
        "z": [[[1.0, 2.0], [3.0, 0.0]]], "zt": [[[1.0, 2.0]], [[3.0, 0.0]]], "wide": [[1.0, 2.0]] * 3,
    }  # fmt: skip
    other = restored(peer.session)
    assert other.table.find("huge").shape == (100_000_000, 2)
    assert other.table.find("zt")._storage is other.table.find("z")._storage
    assert other.table.find("__metadata__").shape == (2,)


@pytest.mark.oracle
def test_torch_opens_it(peer: Peer, tmp_path: Any) -> None:
    pytest.importorskip("torch", reason="PyTorch, the oracle, is not installed")
    st = pytest.importorskip("safetensors.torch")
    (tmp_path / "s.safetensors").write_bytes(frozen(peer.session))
    assert st.load_file(tmp_path / "s.safetensors")["w"].tolist() == [1.0, 2.0]


def test_every_flipped_byte_is_found(peer: Peer) -> None:
    run(peer, step("mul", "w", "w", out=["y"]))
    data = frozen(peer.session)
    for at in range(len(data)):
        spoiled = bytearray(data)
        spoiled[at] ^= 1 << (at % 8)
        with pytest.raises(BadSnapshot):
            Session.thaw(io.BytesIO(spoiled))


def test_every_lost_end_is_found(peer: Peer) -> None:
    data = frozen(peer.session)
    for size in (*range(64), *range(64, len(data), 7)):
        with pytest.raises(BadSnapshot):
            Session.thaw(io.BytesIO(data[:size]))
    with pytest.raises(BadSnapshot):
        Session.thaw(io.BytesIO(data + b"\0"))


def test_other_files_are_refused(peer: Peer) -> None:
    plain = head({"w": ("float32", (1,))}, {}) + bytes(4)
    with pytest.raises(BadSnapshot, match="no snapshot of format"):
        Session.thaw(io.BytesIO(plain))
    with pytest.raises(BadSnapshot, match="the snapshot's state"):
        Session.thaw(io.BytesIO(b"".join(parts(Snapshot(b"{}", {})))))
    snapshot = read(io.BytesIO(frozen(peer.session)))
    said = json.loads(snapshot.state)
    said["memory"] = ["elsewhere"]
    with pytest.raises(BadSnapshot, match="does not go together"):
        Session.thaw(io.BytesIO(b"".join(parts(Snapshot(json.dumps(said).encode(), snapshot.arrays)))))


# -- faults ------------------------------------------------------------------------------------------


def no_number(session: Session) -> None:
    session.writers[1].last -= 1


def no_position(session: Session) -> None:
    session.position = 0


def no_stream(session: Session) -> None:
    session.generator.step = 0


def no_marks(session: Session) -> None:
    session.table.restore({}, Marks(0, 0, {}, {}, []))


def no_count(session: Session) -> None:
    session.counts["steps"] = 0


@pytest.mark.parametrize("fault", [no_number, no_position, no_stream, no_marks, no_count])
def test_what_is_left_out_is_missed(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    peer, second = Peer(session := Session("faults")), Peer(session)
    peer.put("x", np.ones(2))
    second.put("v", np.ones(3))
    for _ in range(2):
        peer.batch(Step("rand", [], {"size": [2]}), fetch=[0])
    peer.ask(m.Info())
    sent = [peer.sent[0], second.sent[0], second.sent[1], *peer.sent[1:]]
    assert goes_on(sent, 5)
    real = image._restore

    def forgetful(session: Any, *given: Any) -> None:
        real(session, *given)
        fault(session)

    monkeypatch.setattr(image, "_restore", forgetful)
    monkeypatch.setitem(globals(), "restored", lambda s: Session.thaw(io.BytesIO(frozen(s))))
    with pytest.raises((AssertionError, KeyError)):
        goes_on(sent, 5)


def test_the_entries_after_a_snapshot_follow_it() -> None:
    script = every_kind()
    for cut in range(0, len(script), 9):
        first = opened()
        for frame in script[:cut]:
            first.submit(frame)
        data, entries = frozen(first), first.entries
        for frame in script[cut:]:
            first.submit(frame)
        second = Session.thaw(io.BytesIO(data))
        assert second.entries == entries
        replay(second, ListStore(first.store.entries()[entries:]))
        assert second.entries == first.entries
        assert differences(first, second) == [], cut


def test_what_was_not_recorded_gets_into_no_snapshot() -> None:
    class Full(ListStore):
        def append(self, entry: Any) -> None:
            raise OSError(28, "no space")

    session = opened(Full())
    session.submit(frames.join(frames.encode(m.Attach("script"))))
    assert session.fenced is not None
    with pytest.raises(ProtocolError, match="no room"):
        session.freeze()
