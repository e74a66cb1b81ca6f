"""The end of a session gives its memory back at once."""

from __future__ import annotations

import gc
import json
import weakref
from collections.abc import Iterator

import numpy as np
import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.program import Step
from gradd_runtime.bulk import Bulk, bulk_of
from gradd_runtime.placement import InlinePlacement

from tests.runtime.peer import FILL, Peer


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
def test_a_session_is_in_no_cycle() -> None:
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
    assert session() is None


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
