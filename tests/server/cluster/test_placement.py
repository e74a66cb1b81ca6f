"""Sessions on the nodes of a cluster: where they go, how they move, and what becomes of them without a node.

`GRADD_MOVES` says how many random moves there are while batches stream.
"""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradd_protocol import frames, names
from gradd_protocol import messages as m
from gradd_protocol.problems import ProtocolError, problem
from gradd_protocol.program import Step
from gradd_runtime.process import InlinePlacement, PendingFuture
from gradd_runtime.store import make_record
from gradd_server.placement.cluster import placement as module
from gradd_server.placement.cluster.placement import ClusterPlacement

from tests.runtime.peer import FILL, Peer
from tests.server.cluster.hosts import NODES, cluster, until
from tests.server.test_workers import LONG, long_frame, peer, slug
from tests.waiting import PATIENCE

MOVES = int(os.environ.get("GRADD_MOVES", "12"))


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClusterPlacement]:
    """Over the nodes a, b and c."""
    with cluster(tmp_path, monkeypatch, "a", "b", "c") as placement:
        yield placement


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClusterPlacement]:
    """Over the nodes a and b."""
    with cluster(tmp_path, monkeypatch, "a", "b") as placement:
        yield placement


def kept(placement: ClusterPlacement, folder: Path, name: str) -> str:
    """A session with a record."""
    (folder / name).mkdir(exist_ok=True)
    record = folder / name / "record.db"
    if not record.exists():
        make_record(record)
    key = names.keyed("acme", name)
    placement.open(key, {"store": str(record), "durability": "process", "seed": 3})
    return key


def patient(placement: Any, key: str) -> Peer:
    """One that sends again what a session that comes back did not answer."""

    def submit(frame: bytes) -> bytes:
        end = threading.Event()
        while True:
            reply = bytes(placement.submit(key, frame).result(PATIENCE))
            message = frames.decode_reply(reply)[0]
            if not isinstance(message, m.ProblemReply) or message.problem.slug != "recovering":
                return reply
            end.wait(0.05)

    return Peer(submit=submit)


def train(one: Peer, steps: int) -> list[bytes]:
    """Replies to uploads, draws and updates."""
    one.put("w", np.arange(4.0), requires_grad=False)
    for n in range(steps):
        one.batch(
            Step("rand", [], {"size": [4], "dtype": "float64"}), Step("add_", [0, 1], {}),
            inputs=["w"], keep=[1], first=n + 1, fetch=[2],
        )  # fmt: skip
        one.get("w")
    return one.replies[1:]


def where(placement: ClusterPlacement) -> dict[str, int]:
    return {status.node: status.sessions for status in placement.nodes()}


# -- where sessions are ----------------------------------------------------------------------------------


def test_sessions_are_spread(made: ClusterPlacement, tmp_path: Path) -> None:
    keys = [kept(made, tmp_path, f"s{n}") for n in range(6)]
    assert where(made) == {"a": 2, "b": 2, "c": 2}
    assert {made.node_of(key) for key in keys} == {"a", "b", "c"}
    assert made.node_of("nobody") is None
    for key in keys:
        made.close(key)
    assert where(made) == {"a": 0, "b": 0, "c": 0}


def test_a_node_that_comes_later_takes_sessions(pair: ClusterPlacement, tmp_path: Path) -> None:
    for n in range(2):
        kept(pair, tmp_path, f"s{n}")
    NODES.start("d")
    NODES.tell()
    NODES.tell()  # a second look starts no second process
    until(lambda: NODES.pids("d"))
    until(lambda: not pair.unwell() and all(status.well for status in pair.nodes()))
    key = kept(pair, tmp_path, "late")
    assert pair.node_of(key) == "d"
    assert len(pair.pids) == 3


# -- moves -----------------------------------------------------------------------------------------------


def test_a_session_that_moves_while_it_trains_ends_as_one_that_stays(
    made: ClusterPlacement, tmp_path: Path
) -> None:
    key = kept(made, tmp_path, "moved")
    dice = random.Random(MOVES)
    moved, over = [], threading.Event()

    def wander() -> None:
        while len(moved) < MOVES or not over.is_set():
            node = dice.choice(["a", "b", "c", None])
            try:
                moved.append(made.move(key, node))
            except ProtocolError as error:
                moved.append(str(error))
            if len(moved) >= 50 * MOVES:
                return

    wandering = threading.Thread(target=wander)
    one = Peer(submit=lambda frame: bytes(made.submit(key, frame).result(PATIENCE)))
    wandering.start()
    replies: list[bytes] = []
    replies += train(one, 40)
    over.set()
    wandering.join(PATIENCE)
    inline = InlinePlacement()
    try:
        inline.open(key, {"seed": 3})
        assert [frames.decode_reply(r)[1] for r in replies] != []
        expected = train(Peer(submit=lambda f: bytes(inline.submit(key, f).result(PATIENCE))), 40)
    finally:
        inline.shutdown()
    assert replies == expected
    assert len(set(moved)) == 3, set(moved)


def test_what_comes_meanwhile_is_held_in_order(pair: ClusterPlacement, tmp_path: Path) -> None:
    key = kept(pair, tmp_path, "held")
    one = peer(pair, key)
    home = pair.node_of(key)
    pair.submit(key, frames.join(frames.encode(one.message(*LONG[:12]))))
    moving = threading.Thread(target=pair.move, args=(key,))
    moving.start()
    until(lambda: key in pair._moving)
    one.seq += 1
    flying = []
    for n in range(30):
        message = one.message(FILL, seq=one.seq + n + 1, ack=0, keep=[0], first=n + 1)
        flying.append(pair.submit(key, frames.join(frames.encode(message))))
    assert not flying[0].done()
    pair.stop(key, problem("cancelled", "enough"), only=flying[7])
    moving.join(PATIENCE)
    replies = [frames.decode_reply(future.result(PATIENCE))[0] for future in flying]
    assert [reply.seq for reply in replies if isinstance(reply, m.BatchReply)] == list(range(2, 32))
    assert isinstance(replies[7], m.BatchReply)
    assert replies[7].problem is not None
    assert replies[7].problem.slug == "cancelled"
    skipped = [reply.skipped for reply in replies if isinstance(reply, m.BatchReply)]
    assert skipped == [False] * 8 + [True] * 22
    assert pair.node_of(key) != home


def test_it_cannot_move_twice_at_once_or_nowhere(
    pair: ClusterPlacement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = kept(pair, tmp_path, "slow")
    home = pair.node_of(key)
    assert home is not None
    assert pair.move(key, home) == home
    with pytest.raises(ProtocolError, match="no session is named"):
        pair.move(names.keyed("acme", "nobody"))
    with pytest.raises(ProtocolError, match="no node 'z' takes sessions"):
        pair.move(key, "z")
    one = peer(pair, key)
    running = pair.submit(key, long_frame(one))
    monkeypatch.setattr(module, "MOVE_SECONDS", 0.0)
    with pytest.raises(ProtocolError, match="it does when it can") as refused:
        pair.move(key)
    assert refused.value.problem.slug == "session-busy"
    with pytest.raises(ProtocolError, match="moves already"):
        pair.move(key)
    asked = pair.submit(key, frames.join(frames.encode(m.Info())))
    pair.stop(key, problem("cancelled", "enough"))
    running.result(PATIENCE)
    assert isinstance(frames.decode_reply(asked.result(PATIENCE))[0], m.SessionReply)
    until(lambda: pair.node_of(key) != home)


def test_a_session_that_is_deleted_while_it_moves(pair: ClusterPlacement, tmp_path: Path) -> None:
    key = kept(pair, tmp_path, "gone")
    one = peer(pair, key)
    pair.submit(key, long_frame(one))
    refused: list[str] = []

    def move() -> None:
        try:
            pair.move(key)
        except ProtocolError as error:
            refused.append(error.problem.slug)

    moving = threading.Thread(target=move)
    moving.start()
    until(lambda: key in pair._moving)
    held = pair.submit(key, long_frame(one))
    pair.close(key)
    assert slug(held.result(PATIENCE)) == "session-not-found"
    again = kept(pair, tmp_path, "gone")  # another of its name has nothing of the first
    moving.join(PATIENCE)
    assert refused == ["session-not-found"]
    assert not isinstance(patient(pair, again).get("x"), np.ndarray)
    assert sum(where(pair).values()) == 1


def test_a_session_that_is_deleted_when_it_has_left(pair: ClusterPlacement, tmp_path: Path) -> None:
    """The process that it left hears of its end too late."""
    key = kept(pair, tmp_path, "left")
    peer(pair, key).put("x", [1.0])
    home, number = pair._homes[key]
    left = PendingFuture()
    assert home.let_go(number, left)
    left.result(PATIENCE)
    pair.close(key)
    other = kept(pair, tmp_path, "other")
    pair.move(other, pair._where[home].node)
    assert peer(pair, other).get("x").slug == "tensor-not-found"
    assert pair.engines().restarts == 0


def test_sessions_without_a_record_stay(pair: ClusterPlacement) -> None:
    pair.open("plain", {})
    with pytest.raises(ProtocolError, match="keeps no record"):
        pair.move("plain")
    home = pair.node_of("plain")
    assert home is not None
    assert pair.on(home) == []
    NODES.stop(home)
    os.kill(NODES.pids(home)[0], signal.SIGKILL)
    until(lambda: pair.node_of("plain") is None)
    assert slug(bytes(pair.submit("plain", frames.join(frames.encode(m.Info()))).result(PATIENCE))) == (
        "device-lost"
    )
    pair.close("plain")


# -- drained nodes ---------------------------------------------------------------------------------------


def test_a_node_that_is_drained_gets_no_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with cluster(tmp_path, monkeypatch, "a", "b") as pair:
        keys = [kept(pair, tmp_path, f"s{n}") for n in range(4)]
        for key in keys:
            peer(pair, key).put("x", [1.0])
        with pytest.raises(ProtocolError, match="has no node 'z'"):
            pair.drain("z")
        pair.drain("a")
        assert len(pair.on("a")) == 2
        for key in pair.on("a"):
            assert pair.move(key) == "b"
        assert where(pair) == {"a": 0, "b": 4}
        kept(pair, tmp_path, "more")
        assert where(pair) == {"a": 0, "b": 5}
        with pytest.raises(ProtocolError, match="no other node"):
            pair.move(keys[0])
        with pytest.raises(ProtocolError, match="no node 'a' takes"):
            pair.move(keys[0], "a")
    with cluster(tmp_path, monkeypatch, "a", "b") as again:
        NODES.stop("a")
        NODES.tell()
        gone, there = ("a", False, True), ("b", True, False)
        until(lambda: [(s.node, s.pid > 0, s.drained) for s in again.nodes()] == [gone, there])
    with cluster(tmp_path, monkeypatch, "a", "b") as again:
        assert [status.drained for status in again.nodes()] == [True, False]
        assert again.node_of(kept(again, tmp_path, "s0")) == "b"
        again.drain("a", drained=False)
        assert again.move(names.keyed("acme", "s0"), "a") == "a"
        assert patient(again, names.keyed("acme", "s0")).get("x").tolist() == [1.0]


# -- nodes that end --------------------------------------------------------------------------------------


def test_sessions_of_a_node_that_is_gone_come_back_elsewhere(made: ClusterPlacement, tmp_path: Path) -> None:
    keys = [kept(made, tmp_path, f"s{n}") for n in range(6)]
    for n, key in enumerate(keys):
        peer(made, key).put("x", [float(n)])
    NODES.stop("b")
    NODES.tell()
    until(lambda: where(made) == {"a": 3, "c": 3})
    for n, key in enumerate(keys):
        assert patient(made, key).get("x").tolist() == [float(n)]
    assert made.engines().restarts == 1


def test_a_process_that_dies_is_replaced_on_its_node(pair: ClusterPlacement, tmp_path: Path) -> None:
    key = kept(pair, tmp_path, "s")
    peer(pair, key).put("x", [1.0])
    home = pair.node_of(key)
    assert home is not None
    (before,) = NODES.pids(home)
    os.kill(before, signal.SIGKILL)
    until(lambda: NODES.pids(home) not in ([], [before]))
    assert patient(pair, key).get("x").tolist() == [1.0]
    assert pair.node_of(key) == home


def test_a_node_whose_host_is_closed_and_whose_process_is_killed(
    pair: ClusterPlacement, tmp_path: Path
) -> None:
    key = kept(pair, tmp_path, "s")
    one = patient(pair, key)
    one.put("x", [1.0])
    home = pair.node_of(key)
    assert home is not None
    NODES.hosts[home].close()
    os.kill(NODES.pids(home)[0], signal.SIGKILL)
    until(lambda: home not in where(pair))
    assert one.get("x").tolist() == [1.0]
    assert pair.node_of(key) != home
    NODES.start(home)  # its actor is back
    NODES.tell()
    until(lambda: NODES.pids(home))
    assert pair.move(key, home) == home
    assert one.get("x").tolist() == [1.0]


def test_the_only_node_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with cluster(tmp_path, monkeypatch, "a") as alone:
        key = kept(alone, tmp_path, "s")
        one = patient(alone, key)
        one.put("x", [1.0])
        for _ in range(2):
            before = NODES.pids("a")
            os.kill(before[0], signal.SIGKILL)  # the second time perhaps before it was ready
            until(lambda before=before: NODES.pids("a") not in ([], before))
        assert one.get("x").tolist() == [1.0]


def test_a_process_that_dies_while_a_session_leaves_it(pair: ClusterPlacement, tmp_path: Path) -> None:
    key = kept(pair, tmp_path, "s")
    one = patient(pair, key)
    one.put("x", [1.0])
    home = pair.node_of(key)
    assert home is not None
    pair.submit(key, long_frame(one))
    said: list[str] = []

    def move() -> None:
        try:
            said.append(pair.move(key))
        except ProtocolError as error:
            said.append(error.problem.slug)

    moving = threading.Thread(target=move)
    moving.start()
    until(lambda: key in pair._moving)
    os.kill(NODES.pids(home)[0], signal.SIGKILL)
    moving.join(PATIENCE)
    assert said[0] in ("a", "b", "device-lost")
    assert pair._moving == {}
    assert one.get("x").tolist() == [1.0]


def test_a_target_that_dies_while_a_session_comes(made: ClusterPlacement, tmp_path: Path) -> None:
    key = kept(made, tmp_path, "s")
    one = patient(made, key)
    one.put("x", [1.0])
    home = made.node_of(key)
    target = next(node for node in ("a", "b", "c") if node != home)
    running = made.submit(key, long_frame(one))
    said: list[str] = []
    moving = threading.Thread(target=lambda: said.append(made.move(key, target)))
    moving.start()
    until(lambda: key in made._moving)
    NODES.stop(target)
    os.kill(NODES.pids(target)[0], signal.SIGKILL)
    until(lambda: target not in where(made))
    made.stop(key, problem("cancelled", "enough"), only=running)
    moving.join(PATIENCE)
    assert said[0] in {"a", "b", "c"} - {target}
    assert one.get("x").tolist() == [1.0]


def test_a_former_process_that_wakes_up_keeps_nothing(pair: ClusterPlacement, tmp_path: Path) -> None:
    """It was stopped with a session that it had not opened yet, which is elsewhere since."""
    key = kept(pair, tmp_path, "s")
    home = pair.node_of(key)
    assert home is not None
    (pid,) = NODES.pids(home)
    os.kill(pid, signal.SIGSTOP)
    dead = pair._homes[key][0]
    put = frames.join(frames.encode(m.PutTensor("x"), [np.array([9.0])]))
    pair.submit(key, put)
    front = dead._socket.dup()  # nobody hears of its end
    NODES.stop(home)
    with pair._lock:
        pair._hosts.pop(f"host-{home}")
    dead._child.kill = lambda: None  # type: ignore[method-assign]
    dead._socket.shutdown(1)
    os.kill(pid, signal.SIGCONT)
    front.close()
    until(lambda: pair.node_of(key) not in (None, home))
    one = patient(pair, key)
    one.put("y", [1.0])
    assert one.get("y").tolist() == [1.0]


def test_a_cluster_without_a_process_is_no_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "START_SECONDS", 0.0)
    with pytest.raises(RuntimeError, match="starts an engine process"), cluster(tmp_path, monkeypatch):
        pass
