"""A batch's cost: what it touches, not what lives. And what the others learn of changes to shared names."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from gradd_protocol.program import Step, Value

from tests.runtime.peer import FILL, Peer

ADD = Step("add", [0, 1], {})
DOUBLE = Step("mul_", [0, Value("float")], {})


def work(run: Callable[[], Any]) -> int:
    """Bytecodes that `run` executes: comprehensions and loops over what is not touched show."""
    count = 0

    def each(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return each

    before = sys.gettrace()
    sys.settrace(each)
    try:
        run()
    finally:
        sys.settrace(before)
    return count


def crowded(live: int) -> Peer:
    """A session with `live` ids and a hundredth of that in names."""
    peer = Peer()
    for first in range(0, live, 1000):
        count = min(1000, live - first)
        peer.batch(*[FILL] * count, keep=list(range(count)), first=first)
    for n in range(live // 100):
        peer.put(f"n{n}", [1.0])
    peer.put("a", [1.0])
    peer.put("b", [2.0])
    for _ in range(3):
        peer.batch(ADD, inputs=["a", "b"], keep=[2], first=live, free=[f"@1.{live}"], fetch=[2])
    return peer


def test_a_batch_costs_the_same_with_10_and_with_20_000_live_ids() -> None:
    counts = []
    for live in (10, 20_000):
        peer = crowded(live)
        last = {"keep": [2], "first": live, "free": [f"@1.{live}"]}
        message = peer.message(ADD, inputs=["a", "b"], fetch=[2], state=["@1.3", "b"], **last)
        counts.append(work(lambda peer=peer, message=message: peer.ask(message)))
        assert len(peer.session.table) == live + live // 100 + 2
    assert counts[1] < 1.05 * counts[0], counts


def test_others_learn_of_a_change_once() -> None:
    one = Peer()
    two = Peer(one.session)
    one.put("a", [1.0])
    one.put("b", [1.0])
    assert {i.name for i in two.batch(FILL).changed} == {"a", "b"}
    one.batch(DOUBLE, inputs=["a"], values=[2.0])
    one.batch(DOUBLE, inputs=["a"], values=[2.0])
    assert [i.name for i in two.batch(FILL).changed] == ["a"]
    assert two.batch(FILL).changed == []


def test_a_writer_is_not_told_of_its_own_changes() -> None:
    one = Peer()
    one.put("a", [1.0])
    two = Peer(one.session)
    one.batch(FILL)
    two.batch(DOUBLE, inputs=["a"], values=[2.0])
    two.batch(FILL)
    one.batch(FILL)
    assert two.batch(FILL).changed == []


def test_a_name_bound_anew_at_the_same_address_is_a_change() -> None:
    peer = Peer()
    peer.put("a", [1.0])
    table = peer.session.table
    table.note_changes(1)
    t = table.find("a")
    table.drop("a")
    table.bind("a", t)  # as if made anew where the old one was
    table.note_changes(2)
    assert [i.name for i in table.changed_since(1)] == ["a"]


def test_names_and_ids_of_one_tensor_come_and_go() -> None:
    peer = Peer()
    peer.batch(FILL, keep=[0], first=0, bind={"b": 0, "a": 0})
    table = peer.session.table
    t = table.find("a")
    assert list(table.calls(t)) == ["@1.0", "b", "a"]
    assert table.name_of(t) == "a"
    peer.batch(free=["@1.0"], unbind=["a"])
    assert list(table.calls(t)) == ["b"]
    assert table.name_of(t) == "b"
    peer.batch(unbind=["b", "b"])
    assert list(table.calls(t)) == []
    assert table.name_of(t) is None
    assert len(table) == 0
