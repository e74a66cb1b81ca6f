"""The end of a session gives its memory back at once."""

from __future__ import annotations

import gc
import json
import weakref
from collections.abc import Iterator
from typing import Any

import gradd
import numpy as np
import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.program import Step
from gradd_runtime.process import Bulk, InlinePlacement, bulk_of
from gradd_runtime.session import Session
from gradd_runtime.session.json_hooks import Hooks

from tests.runtime.peer import FILL, Peer


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def ended() -> weakref.ref[Session]:
    """What is left of a session that did some of everything and was closed."""
    peer = Peer()
    peer.put("w", [1.0, 2.0], True)
    peer.json({"steps": [{"op": "sin", "inputs": ["w"], "outputs": ["y"]}]}, idempotency_key="k")
    hook = json.dumps({"tensor": "w", "steps": []}).encode()
    peer.ask(m.PutHook("h"), [frames.text_buffer(hook)])
    for _ in range(3):
        peer.batch(Step("mul", [0, 0], {}), inputs=["w"], keep=[1], first=0, fetch=[1])
    session = weakref.ref(peer.session)
    peer.session.close()
    del peer.session, peer.submit
    return session


@pytest.mark.usefixtures("no_collector")
def test_a_session_is_in_no_cycle() -> None:
    assert ended()() is None


@pytest.mark.usefixtures("no_collector")
def test_a_planted_cycle_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Hooks.__init__

    def holding(self: Any) -> None:
        made(self)
        self.owner = [self]

    monkeypatch.setattr(Hooks, "__init__", holding)
    assert ended()() is None, "hooks that hold themselves hold no session"
    put = Hooks.answer

    def answer(self: Any, session: Session, *rest: Any) -> Any:
        self.owner.append(session)
        return put(self, session, *rest)

    monkeypatch.setattr(Hooks, "answer", answer)
    assert ended()() is not None


@pytest.mark.usefixtures("no_collector")
def test_what_cycles_of_tensors_hold_goes_with_the_session() -> None:
    peer = Peer()
    peer.put("w", np.ones(1000), True)
    steps = [
        {"op": "mul", "inputs": ["w", "w"], "outputs": ["y"]},
        {"op": "sum", "inputs": ["y"], "outputs": ["s"]},
        {"op": "backward", "inputs": {"tensors": ["s"]}, "attrs": {"create_graph": True}},
    ]
    assert peer.json({"steps": steps})[0] == 200
    account = peer.session.account
    peer.session.close()
    assert account.used == 0


@pytest.mark.usefixtures("no_collector")
def test_closing_frees_the_pages_of_uploads() -> None:
    placement = InlinePlacement()
    for n in range(4):
        placement.open("a", {})
        peer = Peer(submit=lambda frame: placement.submit("a", frame).result())
        assert not peer.batch(FILL).problem
        message = m.PutTensor("x", False)
        bulk = bulk_of(frames.encode(message, [np.ones(1 << 18, np.float32)]))
        placement.submit("a", bulk).result()
        del bulk
        placement.close("a")
        placement.open("b", {})
        Peer(submit=lambda frame: placement.submit("b", frame).result())  # after the end of "a"
        assert mapped() == 0, n
    placement.shutdown()


@pytest.mark.usefixtures("no_collector")
def test_the_end_of_an_anonymous_session_gives_its_memory_back() -> None:
    from gradd._transports.local import _inline

    client = gradd.connect("local:")
    x = gradd.from_numpy(np.ones(1 << 18, np.float32)).requires_grad_()
    (x * x).sum().backward()
    assert x.grad.sum().item() == 2 << 18
    session = weakref.ref(_inline()._sessions[client.name].session)
    account = session().account
    assert account.used >= 2 << 20
    client.close()
    with gradd.connect("local:"):
        assert gradd.ones(1).item() == 1.0
    assert session() is None
    assert account.used == 0


def mapped() -> int:
    """Mappings of anonymous files of memory in this process."""
    with open("/proc/self/maps") as maps:
        return sum("memfd:gradd" in line for line in maps)


def test_the_count_of_mappings_sees_one() -> None:
    bulk = Bulk()
    bulk.write(b"x" * 4096)
    held = bulk.map()
    assert mapped() == 1
    held.release()
