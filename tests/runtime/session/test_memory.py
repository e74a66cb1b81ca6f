"""A session's memory: what holds it, its course, and that nobody pays for it who is not watched."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import gradd
import numpy as np
import pytest
from gradd._transports.local import _inline
from gradd_engine.memory_map import MemoryMap
from gradd_engine.tensor import LazyNode
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_runtime.session import Session
from gradd_runtime.session import memory as module
from gradd_runtime.session.memory import APART, LAYERS, MOST_POINTS, MemoryCourse, MemoryHistory, MemoryPoint

from tests.runtime.peer import FILL, Peer


@pytest.fixture
def session() -> Iterator[Any]:
    with gradd.connect("local:") as made:
        yield made


@pytest.fixture(autouse=True)
def look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks again at once is told anew."""
    monkeypatch.setattr(module, "ASKED", 0)


def inner(session: Any) -> Session:
    """The session of the runtime behind a client's."""
    hosted = _inline()._sessions[session.name]
    return hosted.session  # type: ignore[no-any-return]


def told(session: Any) -> Any:
    """What the session answers to GetMemory."""
    session.flush()
    _, (text,) = session.wire.transport._begin(m.GetMemory(), ())()
    return json.loads(bytes(text))


def steps(count: int) -> Any:
    """A loop whose graph crosses from one batch to the next."""
    w = gradd.ones(256, requires_grad=True)
    for _ in range(count):
        loss = (w * 2).exp().sum()
        assert loss.item() > 0
        loss.backward()
    return w


def test_all_bytes_are_told_with_who_has_them(session: Any) -> None:
    session["w"] = w = steps(1)
    left = (w * 3).exp()
    found = told(session)
    kinds = {block["label"]: (block["kind"], block["bytes"]) for block in found["blocks"]}
    assert kinds["w"] == ("leaf", 1024)
    assert kinds["w.grad"] == ("gradient", 1024)
    assert kinds["ExpBackward0"] == ("result", 1024)
    assert found["bytes"] == sum(block["bytes"] for block in found["blocks"]) == inner(session).account.used
    assert found["untold"] == 0
    block = next(block for block in found["blocks"] if block["label"] == "ExpBackward0")
    assert block["holders"] == [left._id, "saved by ExpBackward0"]
    assert set(found["beside"]) == {"objects", "plans", "results", "uploads", "rest"}
    assert found["beside"]["objects"] > 0
    assert sum(found["beside"].values()) - found["beside"]["objects"] == inner(session).account.other
    for course in ("whole", "watched"):
        assert found["bytes"] + sum(found["beside"].values()) == found[course]["bytes"][-1]


def test_a_graph_that_a_plan_left_folded_is_told_and_stays_so(session: Any) -> None:
    w = gradd.ones(256, requires_grad=True)
    for _ in range(4):
        loss = (w * 2).exp().sum()
        session.flush()
        table = inner(session).table.ids
        found = told(session)
        loss.backward()
    assert isinstance(table[loss._id]._fn, LazyNode)
    saved = [block for block in found["blocks"] if block["kind"] == "saved"]
    assert [(b["label"], b["bytes"], b["holders"]) for b in saved] == [
        ("saved by ExpBackward0", 1024, ["saved by ExpBackward0"])
    ]
    assert found["untold"] == 0
    assert inner(session).plans.counts["planned"] > 0


def test_a_leaf_that_a_folded_graph_alone_holds_is_told_with_its_gradient() -> None:
    """As that of the graph which the first batch made, without a plan."""
    steps = [
        {"op": "ones", "attrs": {"size": [100]}, "outputs": ["%leaf"]},
        {"op": "set_requires_grad", "inputs": ["%leaf"], "attrs": {"requires_grad": True}},
        {"op": "mul", "inputs": ["%leaf", {"scalar": 3.0}], "outputs": ["y"]},
        {"op": "sum", "inputs": ["y"], "outputs": ["%sum"]},
        {"op": "backward", "inputs": ["%sum"], "attrs": {"retain_graph": True}},
    ]
    peer = Peer()
    seen = []
    for _ in range(3):
        assert peer.json({"steps": steps})[0] == 200
        _, (text,) = peer.ask(m.GetMemory())
        seen.append(json.loads(frames.text_of(text)))
    assert peer.session.plans.counts["planned"] == 2
    assert [said["untold"] for said in seen] == [0, 0, 0]
    first, *others = ({b["label"]: (b["kind"], b["bytes"], b["holders"]) for b in s["blocks"]} for s in seen)
    assert first["a leaf of the graph"] == ("leaf", 400, ["the graph, as a leaf"])
    assert others == [first, first]


def test_so_much_of_a_folded_graph_is_looked_at_and_no_more() -> None:
    peer = Peer()
    peer.put("x", np.ones(4, np.float32), requires_grad=True)
    names = ["x", *(f"%{n}" for n in range(30)), "y"]
    steps = [{"op": "exp", "inputs": [a], "outputs": [b]} for a, b in itertools.pairwise(names)]
    for _ in range(3):
        assert peer.json({"steps": steps})[0] == 200
    roots = [("y", peer.session.table.named["y"])]
    assert isinstance(roots[0][1]._fn, LazyNode)
    assert MemoryMap(roots, most=20).truncated
    assert not MemoryMap(roots, most=50).truncated


def test_an_unwatched_session_notes_every_so_many_batches_and_looks_at_nothing(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(session: Any) -> Any:
        raise AssertionError("nobody watches")

    with monkeypatch.context() as patch:
        patch.setattr(module, "_looked_at", look)
        steps(3 * APART)
        session.flush()
    whole = told(session)["whole"]
    assert whole["every"] == APART
    assert whole["batches"][:2] == [APART, 2 * APART]
    assert whole["layers"] == []
    assert len(whole["bytes"]) == len(whole["batches"]) == len(whole["seconds_ago"])
    assert whole["seconds_ago"] == sorted(whole["seconds_ago"], reverse=True)


def test_a_watched_session_tells_layers(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHARE", 0)
    session["w"] = w = steps(2)
    before = told(session)["watched"]
    assert len(before["batches"]) == 1
    more = [gradd.ones(512) for _ in range(3)]
    session.flush()
    (w * 1.5).sum().item()
    after = told(session)["watched"]
    assert len(after["batches"]) > 1
    layers = {(layer["kind"], layer["label"]): layer["bytes"] for layer in after["layers"]}
    assert layers["leaf", "w"] == [1024] * len(after["batches"])
    assert layers["beside", "objects"][-1] > 0
    assert after["bytes"][-1] >= before["bytes"][-1] + sum(t.nbytes for t in more)


def test_watching_ends_by_itself(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    steps(1)
    told(session)
    history = inner(session).memory
    steps(1)
    assert history._watched.points
    history._until = 0.0
    steps(2)
    assert history.due == history._whole.next
    points = len(history._watched.points)
    steps(2)
    assert len(history._watched.points) == points


def test_a_look_takes_a_bounded_share_of_the_time() -> None:
    peer = Peer()
    history = peer.session.memory
    peer.ask(m.GetMemory())
    peer.batch(FILL, first=1, keep=[0])
    now = history._until - 5.0
    history.note(peer.session, now)
    assert len(history._watched.points) == 1
    rest = history._rests
    assert rest > now
    peer.batch(FILL, first=2, keep=[0])
    history.note(peer.session, (now + rest) / 2)
    assert len(history._watched.points) == 1
    history.note(peer.session, rest)
    assert len(history._watched.points) == 2


def test_all_who_ask_at_once_are_told_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many ask, looking takes a share of the time."""
    peer = Peer()
    history = peer.session.memory
    monkeypatch.setattr(module, "ASKED", 1e9)
    texts = []
    for seq in range(1, 4):
        peer.batch(FILL, first=seq, keep=[0])
        texts.append(frames.text_of(peer.ask(m.GetMemory())[1][0]))
    assert texts[0] == texts[1] == texts[2]
    history._again = 0.0
    peer.ask(m.GetMemory())
    assert len(json.loads(history._answer)["blocks"]) == 3


def test_results_that_wait_to_be_read_hold_memory() -> None:
    peer = Peer()
    peer.put("w", np.ones(1 << 17, np.float32))
    peer.batch(inputs=["w"], fetch=[0])
    _, (text,) = peer.ask(m.GetMemory())
    (block,) = json.loads(frames.text_of(text))["blocks"]
    assert block["holders"] == ["w", "result 1.1.0, to be read"]


def test_a_long_course_keeps_its_course_and_its_end() -> None:
    course = MemoryCourse(2)
    for n in range(2, 20 * MOST_POINTS):
        if n >= course.next:
            course.add(MemoryPoint(n, n / 10, n))
    said = course.told(MemoryPoint(20 * MOST_POINTS, 2.0 * MOST_POINTS, 7))
    assert len(said["batches"]) <= MOST_POINTS
    assert said["batches"][0] == 2
    assert said["batches"][-1] == 20 * MOST_POINTS
    assert said["every"] > 2
    assert (
        min(b - a for a, b in zip(said["batches"][:-2], said["batches"][1:-1], strict=True)) >= said["every"]
    )
    assert said["bytes"][-1] == 7
    assert said["seconds_ago"][-1] == 0


def test_the_largest_layers_are_told() -> None:
    course = MemoryCourse(1)
    for n in range(1, 4):
        course.add(MemoryPoint(n, float(n), 100, {("leaf", f"w{k}"): k for k in range(20)}))
    said = course.told(MemoryPoint(4, 4.0, 100, {("leaf", "late"): 90}))
    assert len(said["layers"]) == LAYERS
    assert said["layers"][0] == {"kind": "leaf", "label": "late", "bytes": [0, 0, 0, 90]}
    assert said["layers"][1] == {"kind": "leaf", "label": "w19", "bytes": [19, 19, 19, 0]}


def test_a_history_of_a_session_that_was_made_again_begins_with_its_batches() -> None:
    history = MemoryHistory()
    peer = Peer()
    peer.session.counts["batches"] = 5000
    history.note(peer.session, 1.0)
    assert history.due == 5000 + APART
