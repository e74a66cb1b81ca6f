"""Tenants in engine processes of their own: one that is stopped, killed or busy is no matter to another's."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from gradd_protocol import frames, names
from gradd_protocol import messages as m
from gradd_server.placement.workers import WorkersPlacement

from tests.runtime.peer import Peer, housed
from tests.waiting import PATIENCE


@pytest.fixture
def placement() -> Iterator[WorkersPlacement]:
    made = WorkersPlacement(workers=1, threads=1, silence=0, most=2)
    yield made
    made.shutdown()


def test_a_tenant_goes_on_while_the_process_of_another_is_stopped(placement: WorkersPlacement) -> None:
    first = housed(placement, "first", "s")
    first.put("x", [1.0])
    (theirs,) = placement.pids
    other = housed(placement, "other", "s")
    other.put("x", [2.0])
    assert placement.pids[0] == theirs
    assert len(placement.pids) == 2
    assert not placement.unwell()
    os.kill(theirs, signal.SIGSTOP)
    try:
        stuck = placement.submit("first/s", frames.join(frames.encode(m.GetTensor("x"))))
        # The second session of each is where the first one is.
        placement.open(names.keyed("first", "t"), {})
        another = housed(placement, "other", "t")
        another.put("x", [3.0])
        assert (other.get("x").tolist(), another.get("x").tolist()) == ([2.0], [3.0])
        assert not stuck.done()
    finally:
        os.kill(theirs, signal.SIGCONT)
    assert isinstance(frames.decode_reply(stuck.result(PATIENCE))[0], m.TensorReply)


def test_tenants_share_where_there_may_be_no_more_processes(placement: WorkersPlacement) -> None:
    peers = [housed(placement, tenant, "s") for tenant in ("a", "b", "c", "d")]
    assert len(placement.pids) == 2
    for n, writer in enumerate(peers):
        writer.put("x", [float(n)])
    assert [writer.get("x").tolist() for writer in peers] == [[0.0], [1.0], [2.0], [3.0]]


def test_a_process_that_is_starting_is_not_unwell(placement: WorkersPlacement) -> None:
    housed(placement, "first", "s")
    placement.open("other/s", {})  # its process has only begun
    assert not placement.unwell()
    writer = Peer(submit=lambda frame: bytes(placement.submit("other/s", frame).result(PATIENCE)))
    writer.put("x", [1.0])
    os.kill(placement.pids[1], signal.SIGKILL)
    lost = frames.decode_reply(placement.submit("other/s", writer.sent[0]).result(PATIENCE))[0]
    assert isinstance(lost, m.ProblemReply)
    assert placement.wait_for_living(2, PATIENCE)


def test_without_room_for_a_process_tenants_share(
    placement: WorkersPlacement, monkeypatch: pytest.MonkeyPatch
) -> None:
    housed(placement, "first", "s")

    def refuse(*_: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr("gradd_server.placement.workers.near_link", refuse)
    other = housed(placement, "other", "s")
    other.put("x", [1.0])
    assert other.get("x").tolist() == [1.0]
    assert len(placement.pids) == 1
