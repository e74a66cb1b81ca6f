"""Batches that are stopped while they run: what is left of them, and what the others notice."""

from __future__ import annotations

import os
import random
import re
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from gradd_protocol import frames, names
from gradd_protocol import messages as m
from gradd_protocol.problems import problem
from gradd_protocol.program import Step
from gradd_runtime.process import BULK_BYTES
from gradd_runtime.store import make_record
from gradd_server.placement.workers import WorkersPlacement

from tests.runtime.peer import Peer
from tests.waiting import PATIENCE

#: batches stopped at random moments; `make faults` stops more
CANCELS = int(os.environ.get("GRADD_CANCELS", "12"))
WHY = problem("cancelled", "enough")
SIDE, SIDE_OF_PRODUCT = 700, 4000
often = pytest.mark.skipif(CANCELS <= 12, reason="it takes engine processes: make faults")
#: one kernel that takes seconds
PRODUCT = [Step("matmul", [0, 0])]
#: minutes of work
LONG = [Step("matmul", [0, 0]), *(Step("matmul", [n, 0]) for n in range(2, 4000))]
#: a graph of products, whose backward pass takes seconds
GRAPH = [*(Step("matmul", [n, 0]) for n in range(60)), Step("sum", [60])]
#: adds one to `x`, between products of matrices; some tens of milliseconds
ADDS = [step for n in range(40) for step in (Step("matmul", [0, 0]), Step("add_", [1, 2]))]


@pytest.fixture(scope="module")
def placement() -> Iterator[WorkersPlacement]:
    made = WorkersPlacement(workers=1, threads=1, cancel_grace=PATIENCE)
    yield made
    made.shutdown()


@pytest.fixture
def impatient(placement: WorkersPlacement, monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes on after it was to stop is in a kernel."""
    monkeypatch.setattr(placement, "_cancel_grace", 0.3)


class Kept(Peer):
    """A writer of a session that has a store, with an `a` to multiply, and an `x` to add a `one` to."""

    def __init__(self, placement: WorkersPlacement, folder: Path, tenant: str = "one") -> None:
        self.placement, self.key = placement, names.keyed(tenant, folder.name)
        record = folder / f"{tenant}.db"
        make_record(record)
        placement.open(self.key, {"store": str(record), "durability": "process"})
        super().__init__(submit=self.wait)
        self.put("a", np.eye(SIDE, dtype=np.float32))
        self.put("x", np.zeros(1, np.float32))
        self.put("one", np.ones(1, np.float32))

    def wait(self, frame: bytes) -> bytes:
        """The reply, however often it takes."""
        while True:
            reply = bytes(self.placement.submit(self.key, frame).result(PATIENCE))
            told = frames.decode_reply(reply)[0]
            if not isinstance(told, m.ProblemReply) or told.problem.slug != "recovering":
                return reply
            threading.Event().wait(0.05)

    def begin(self, *steps: Step, wait: bool = True, **more: Any) -> Future[Any]:
        """Send the next batch, and wait until it runs (or is done)."""
        return self.begin_frame(frames.join(frames.encode(self.message(*steps, **more))), wait)

    def begin_frame(self, frame: bytes, wait: bool = True) -> Future[Any]:
        self.seq += 1
        self.sent.append(frame)
        process = self.placement._processes[0]
        future = self.placement.submit(self.key, frame)
        number = process._number
        while wait and process._link.running.cell[0] != number and not future.done():
            threading.Event().wait(0.001)
        return future

    def stop(self) -> None:
        self.placement.stop(self.key, WHY)

    def kill(self) -> None:
        """Its engine process ends, and the session is made again from its record."""
        os.kill(self.placement.pids[0], signal.SIGKILL)

    def end(self, future: Future[Any]) -> m.BatchReply:
        """The reply to a batch, which is then acknowledged."""
        reply = frames.decode_reply(future.result(PATIENCE))[0]
        assert isinstance(reply, m.BatchReply)
        self.ack = self.seq
        return reply


@pytest.fixture
def counter(placement: WorkersPlacement, tmp_path: Path) -> Iterator[Callable[[], tuple[int, int]]]:
    """Another tenant, who counts; ended by a call that gives how far that came, and what its `x` is."""
    other = Kept(placement, tmp_path, "other")
    over = threading.Event()
    counted = 0

    def count() -> None:
        nonlocal counted
        while not over.is_set():
            assert other.batch(Step("add_", [0, 1]), inputs=["x", "one"]).problem is None
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()

    def end() -> tuple[int, int]:
        over.set()
        thread.join(PATIENCE)
        return counted, int(other.get("x")[0])

    yield end
    over.set()
    thread.join(PATIENCE)


def test_a_long_batch_is_stopped(placement: WorkersPlacement, tmp_path: Path) -> None:
    one = Kept(placement, tmp_path)
    running = one.begin(*LONG, inputs=["a", "one"])
    one.stop()
    reply = one.end(running)
    assert reply.problem is not None
    assert (reply.problem.slug, reply.problem.detail) == ("cancelled", "enough")
    assert reply.applied < len(LONG)
    # sent again, it is answered as it was
    again, _ = one.frame(one.sent[-1])
    assert again.replayed
    assert again.problem == reply.problem
    assert one.batch(Step("add_", [0, 1]), inputs=["x", "one"]).problem is None


def test_a_long_step_is_stopped_within(placement: WorkersPlacement, tmp_path: Path) -> None:
    one = Kept(placement, tmp_path)
    one.put("a", np.eye(SIDE, dtype=np.float32), requires_grad=True)
    assert one.batch(*GRAPH, inputs=["a"], keep=[61]).problem is None
    while True:
        running = one.begin(Step("backward", [[0], None, None], outputs=0), inputs=["@1.0"])
        one.stop()
        reply = one.end(running)
        assert reply.problem is not None
        if reply.problem.step is not None:
            break  # else it was not begun
    assert (reply.problem.slug, reply.problem.step, reply.applied) == ("cancelled", 0, 0)
    before = [one.get("a").tolist(), one.get("a.grad")]
    one.kill()
    assert [one.get("a").tolist(), one.get("a.grad")] == before
    assert one.batch(Step("sum", [0]), inputs=["a"], fetch=[1]).problem is None


@pytest.mark.usefixtures("impatient")
def test_a_kernel_that_does_not_come_back_ends_with_its_process(
    placement: WorkersPlacement, tmp_path: Path, counter: Callable[[], tuple[int, int]]
) -> None:
    one = Kept(placement, tmp_path)
    one.put("a", np.ones((SIDE_OF_PRODUCT, SIDE_OF_PRODUCT)))
    while True:
        restarts = placement.engines().restarts
        running = one.begin(*PRODUCT, inputs=["a"], keep=[1], first=1)
        threading.Event().wait(0.1)
        waiting = one.begin(Step("add_", [0, 1]), inputs=["x", "one"], wait=False)
        one.stop()
        reply = one.end(running)
        assert reply.problem is not None
        assert (reply.problem.slug, reply.problem.detail, reply.applied) == ("cancelled", "enough", 0)
        told = frames.decode_reply(waiting.result(PATIENCE))[0]
        if placement.engines().restarts > restarts:
            break  # else it was stopped before the kernel
    # what waited was not run, and is sent again
    assert told.problem.slug == "recovering"
    assert one.frame(one.sent[-1])[0].skipped
    # the session has it in its record that the batch was stopped: it is not run again
    again, _ = one.frame(one.sent[-3])
    assert again.replayed
    assert again.problem == reply.problem
    one.ack = one.seq
    assert one.batch(Step("add_", [0, 1]), inputs=["x", "one"]).problem is None
    one.kill()
    assert one.get("x").tolist() == [1.0]
    counted, found = counter()
    assert counted == found > 0


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("stuck", [pytest.param(True, marks=often), False])
def test_a_large_one_that_is_sent_again_is_answered_as_it_was(
    placement: WorkersPlacement, tmp_path: Path, stuck: bool
) -> None:
    """One that crosses to its process in a file."""
    one = Kept(placement, tmp_path)
    one.put("a", np.ones((SIDE_OF_PRODUCT if stuck else SIDE,) * 2))
    data = np.arange(BULK_BYTES // 4, dtype=np.float32)
    upload = Step("upload", [], {"dtype": "float32", "shape": [data.size]})
    while True:
        restarts = placement.engines().restarts
        steps = [upload, *(Step("matmul", [0, 0]) for _ in range(1 if stuck else 4000))]
        frame = frames.join(frames.encode(one.message(*steps, inputs=["a"], uploads=[0]), [data]))
        running = one.begin_frame(frame)
        threading.Event().wait(0.1)
        one.stop()
        reply = one.end(running)
        assert reply.problem is not None
        assert reply.problem.slug == "cancelled"
        if not stuck or placement.engines().restarts > restarts:
            break  # else it was stopped before the kernel
    for _ in range(2):
        again, _ = one.frame(frame)
        assert (again.seq, again.problem, again.replayed) == (reply.seq, reply.problem, True)
        one.kill()


@often
@pytest.mark.usefixtures("impatient")
def test_a_batch_without_a_number_is_answered_once(placement: WorkersPlacement, tmp_path: Path) -> None:
    one = Kept(placement, tmp_path)
    one.put("a", np.ones((SIDE_OF_PRODUCT, SIDE_OF_PRODUCT)))
    steps = [{"op": "matmul", "inputs": ["a", "a"], "outputs": ["b"]}]
    text = frames.text_buffer(msgspec.json.encode({"steps": steps}))
    frame = frames.join(frames.encode(m.JsonBatch("key"), [text]))
    restarts = placement.engines().restarts
    running = placement.submit(one.key, frame)
    process = placement._processes[0]
    while not process._link.running.cell[0]:
        threading.Event().wait(0.001)
    threading.Event().wait(0.1)
    one.stop()
    reply, _ = frames.decode_reply(running.result(PATIENCE))
    assert (reply.status, reply.replayed) == (409, False)
    reply, _ = one.frame(frame)
    assert (reply.status, reply.replayed) == (409, True)
    assert placement.engines().restarts <= restarts + 1


def test_a_batch_may_take_so_long_and_no_longer(
    placement: WorkersPlacement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = Kept(placement, tmp_path), Kept(placement, tmp_path, "two")
    monkeypatch.setattr(placement, "_batch_seconds", 0.2)
    placement._ordered.set()
    running = one.begin(*LONG, inputs=["a", "one"])
    behind = two.begin(Step("add_", [0, 1]), inputs=["x", "one"], wait=False)
    reply = one.end(running)
    assert reply.problem is not None
    assert reply.problem.slug == "time-exceeded"
    assert re.fullmatch(r"the batch ran for [0-9.]+ s; one may take 0\.2 s", reply.problem.detail)
    assert reply.problem.limit == 1
    assert reply.problem.used >= 1
    # what waited longer than that behind it, and what comes, is none of it
    assert two.end(behind).problem is None
    assert one.batch(Step("add_", [0, 1]), inputs=["x", "one"]).problem is None


@pytest.mark.usefixtures("impatient")
def test_nobody_loses_a_session_that_is_not_kept(placement: WorkersPlacement, tmp_path: Path) -> None:
    """A process that holds one is not replaced: the kernel is waited for."""
    one = Kept(placement, tmp_path)
    placement.open("anon-1", {})
    light = Peer(submit=lambda frame: bytes(placement.submit("anon-1", frame).result(PATIENCE)))
    light.put("x", [1.0])
    one.put("a", np.ones((3000, 3000)))
    restarts = placement.engines().restarts
    running = one.begin(*PRODUCT, inputs=["a"])
    one.stop()
    assert one.end(running).problem in (None, WHY)
    assert light.get("x").tolist() == [1.0]
    assert placement.engines().restarts == restarts
    placement.close("anon-1")


def test_those_that_wait_are_not_begun(placement: WorkersPlacement, tmp_path: Path) -> None:
    one, two = Kept(placement, tmp_path), Kept(placement, tmp_path, "two")
    running = one.begin(*LONG, inputs=["a", "one"])
    waiting = [one.begin(Step("add_", [0, 1]), inputs=["x", "one"], wait=False) for _ in range(3)]
    behind = two.begin(Step("add_", [0, 1]), inputs=["x", "one"], wait=False)
    one.stop()
    assert one.end(running).problem is not None
    assert [one.end(future).skipped for future in waiting] == [True] * 3
    assert two.end(behind).problem is None
    assert (one.get("x").tolist(), two.get("x").tolist()) == ([0.0], [1.0])
    assert one.batch(Step("add_", [0, 1]), inputs=["x", "one"]).problem is None


def test_one_that_waits_is_stopped_alone(placement: WorkersPlacement, tmp_path: Path) -> None:
    """As at its deadline: it is not begun, and what runs goes on."""
    one, two = Kept(placement, tmp_path), Kept(placement, tmp_path, "two")
    running = one.begin(*ADDS, inputs=["a", "x", "one"])
    late, soon = (two.begin(Step("add_", [0, 1]), inputs=["x", "one"], wait=False) for _ in range(2))
    placement.stop(two.key, WHY, only=late)
    reply = two.end(late)
    assert reply.problem in (None, WHY) or reply.applied == 0
    assert two.end(soon).skipped is (reply.problem is not None)
    assert one.end(running).problem is None
    assert one.get("x").tolist() == [40.0]


def test_a_deleted_session_stops(placement: WorkersPlacement, tmp_path: Path) -> None:
    one, two = Kept(placement, tmp_path), Kept(placement, tmp_path, "two")
    running = one.begin(*LONG, inputs=["a", "one"])
    placement.close(one.key)
    reply = one.end(running)
    assert reply.problem is not None
    assert (reply.problem.slug, reply.problem.detail) == ("cancelled", "the session was deleted")
    assert two.batch(Step("add_", [0, 1]), inputs=["x", "one"]).problem is None


@often
@pytest.mark.usefixtures("impatient")
def test_a_session_is_deleted_while_a_kernel_does_not_come_back(
    placement: WorkersPlacement, tmp_path: Path
) -> None:
    one, two = Kept(placement, tmp_path), Kept(placement, tmp_path, "two")
    one.put("a", np.ones((SIDE_OF_PRODUCT, SIDE_OF_PRODUCT)))
    running = one.begin(*PRODUCT, inputs=["a"])
    threading.Event().wait(0.1)
    placement.close(one.key)
    told = frames.decode_reply(running.result(PATIENCE))[0]
    assert told.problem.detail == "the session was deleted"
    assert two.batch(Step("add_", [0, 1]), inputs=["x", "one"]).problem is None


def test_a_counter_beside_batches_that_are_stopped_at_random_moments(
    placement: WorkersPlacement,
    tmp_path: Path,
    counter: Callable[[], tuple[int, int]],
    tally: Callable[..., None],
) -> None:
    chance = random.Random(5)
    one = Kept(placement, tmp_path)
    added, stopped, wrong = 0, 0, 0
    for n in range(CANCELS):
        running = one.begin(*ADDS, inputs=["a", "x", "one"])
        threading.Event().wait(chance.uniform(0, 0.05))
        one.stop()
        reply = one.end(running)
        stopped += reply.problem is not None
        added += sum(step.op == "add_" for step in ADDS[: reply.applied])
        if n % 50 == 10:
            one.kill()
        wrong += one.get("x").tolist() != [added]
    counted, found = counter()
    tally("batches stopped at random moments", CANCELS, differing=wrong + abs(counted - found))
    assert stopped
    print(f"{stopped} of {CANCELS} batches were stopped, beside {counted} of another tenant")
