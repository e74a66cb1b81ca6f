"""Engine processes behind the front: the same answers as inline, and what happens where one dies."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.problems import problem
from gradd_protocol.program import Program, Step
from gradd_runtime.process import InlinePlacement
from gradd_server.placement import engines
from gradd_server.placement.workers import WorkersPlacement

from tests.bearer import bearer
from tests.congruence.test_congruence import run
from tests.runtime.peer import BAD, FILL, Peer
from tests.waiting import PATIENCE

#: options of a session that is lost with its engine process
FLEETING = {"durability": "memory"}
LONG = [
    Step("ones", [], {"size": [1500, 1500], "dtype": "float64"}),
    *(Step("matmul", [i, 0]) for i in range(40)),
]
"""Some seconds of work."""


def peer(placement: Any, name: str) -> Peer:
    return Peer(submit=lambda frame: bytes(placement.submit(name, frame).result(PATIENCE)))


def slug(reply: bytes) -> str:
    message = frames.decode_reply(reply)[0]
    assert isinstance(message, m.ProblemReply), message
    return message.problem.slug


def long_frame(writer: Peer) -> bytes:
    return frames.join(frames.encode(writer.message(*LONG)))


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening a session waits for a process as long as one takes to start here."""
    monkeypatch.setattr(engines, "OPEN_SECONDS", PATIENCE)


@pytest.fixture
def placement() -> Iterator[WorkersPlacement]:
    made = WorkersPlacement(workers=2, threads=1)
    yield made
    made.shutdown()
    assert all(gone(pid) for pid in made.pids)


def scenario(placement: Any) -> list[bytes]:
    """Every reply to a life with uploads large and small, draws, a failure, a skip, and a second session."""
    replies = []
    for name, options in (("a", {"seed": 3}), ("b", {"quota_bytes": 1 << 26})):
        placement.open(name, options)
        writer = peer(placement, name)
        writer.put("w", np.arange(6, dtype=np.float32).reshape(2, 3), requires_grad=True)
        big = np.arange(3 << 18, dtype=np.float64)
        writer.put("big", big)
        assert writer.get("big").tobytes() == big.tobytes()
        writer.batch(FILL, Step("rand", [], {"size": [4], "dtype": "float32"}), fetch=[0, 1])
        writer.batch(FILL, BAD, fetch=[0])
        writer.batch(FILL)
        writer.json({"steps": [{"op": "sum", "inputs": ["w"], "outputs": ["s"]}], "fetch": ["s"]})
        replies += writer.replies
        placement.close(name)
        replies.append(placement.submit(name, writer.sent[-1]).result(PATIENCE))
    return replies


def test_a_scenario_over_workers_equals_inline(placement: WorkersPlacement) -> None:
    inline = InlinePlacement()
    try:
        assert scenario(placement) == scenario(inline)
    finally:
        inline.shutdown()


def test_sessions_go_to_the_processes_in_turn(placement: WorkersPlacement) -> None:
    names = ["a", "b", "c", "d"]
    for name in names:
        placement.open(name, {})
        peer(placement, name).put("x", [1.0])
    os.kill(placement.pids[0], signal.SIGKILL)
    lived = []
    for name in names:
        frame = frames.join(frames.encode(m.GetTensor("x")))
        # In flight at the kill or sent after it: the answer is the same.
        message = frames.decode_reply(placement.submit(name, frame).result(PATIENCE))[0]
        lived.append(isinstance(message, m.TensorReply))
    assert lived == [False, True, False, True]


def test_a_session_with_much_to_do_leaves_room_for_others() -> None:
    placement = WorkersPlacement(workers=1, threads=1)
    placement.open("busy", {})
    placement.open("other", {})
    busy = peer(placement, "busy")
    steps = [Step("ones", [], {"size": [700, 700], "dtype": "float64"}), Step("matmul", [0, 0])]
    queued, answered = [], []
    for seq in range(1, 13):
        queued.append(placement.submit("busy", frames.join(frames.encode(busy.message(*steps, seq=seq)))))
        queued[-1].add_done_callback(lambda _, seq=seq: answered.append(seq))
    put = placement.submit("other", frames.join(frames.encode(m.PutTensor("x"), [np.zeros(1)])))
    put.add_done_callback(lambda _: answered.append("other"))
    assert isinstance(frames.decode_reply(put.result(PATIENCE))[0], m.Done)
    # The end answers what was taken, in order.
    placement.shutdown()
    assert answered.index("other") < answered.index(12)
    replies = [frames.decode_reply(future.result(0))[0] for future in queued]
    assert [reply.seq for reply in replies if isinstance(reply, m.BatchReply)] == list(range(1, 13))
    assert all(gone(pid) for pid in placement.pids)


def test_a_loop_that_follows_gets_all_it_asked_for(placement: WorkersPlacement) -> None:
    """More than the sockets hold, so that threads send what is left; and a process that dies meanwhile."""

    async def ask() -> list[str]:
        loop = asyncio.get_running_loop()
        placement.follow(loop)
        try:
            frame = frames.join(frames.encode(m.PutTensor("x"), [np.zeros(2000)]))
            asked = [placement.submit(name, frame) for _ in range(100) for name in ("a", "b")]
            done = await asyncio.gather(*map(asyncio.wrap_future, asked))
            os.kill(placement.pids[0], signal.SIGKILL)
            done += [await asyncio.wrap_future(placement.submit(name, frame)) for name in ("a", "b")]
        finally:
            placement.leave()
        return [type(frames.decode_reply(reply)[0]).__name__ for reply in done]

    for name in ("a", "b"):
        placement.open(name, {})
    assert asyncio.run(asyncio.wait_for(ask(), PATIENCE)) == ["Done"] * 200 + ["ProblemReply", "Done"]
    assert peer(placement, "b").get("x").shape == (2000,)
    assert placement.wait_for_living(2, PATIENCE)


@pytest.mark.parametrize("inline", [True, False], ids=["inline", "workers"])
def test_a_batch_that_is_not_to_begin_fails(request: pytest.FixtureRequest, inline: bool) -> None:
    """Also one whose upload has not come: its number is consumed."""
    made: Any = InlinePlacement() if inline else request.getfixturevalue("placement")
    made.open("called-off", {})
    one = peer(made, "called-off")
    upload = Step("upload", [], {"dtype": "float32", "shape": [1]})
    assert one.batch(upload, uploads=["1.1"]).problem.slug == "upload-missing"
    for step, uploads in ((upload, ["1.1"]), (FILL, [])):
        frame = frames.join(frames.encode(one.message(step, uploads=uploads)))
        why = problem("cancelled", "enough")
        reply = frames.decode_reply(made.submit("called-off", frame, why).result(PATIENCE))[0]
        assert isinstance(reply, m.BatchReply)
        one.seq = one.ack = one.seq + 1
        assert (reply.seq, reply.problem and reply.problem.slug) == (one.seq, "cancelled")
    assert one.batch(FILL).problem is None
    made.close("called-off")
    if inline:
        made.shutdown()


def test_closing_answers_what_waits(placement: WorkersPlacement) -> None:
    placement.open("a", {})
    writer = peer(placement, "a")
    running = placement.submit("a", frames.join(frames.encode(writer.message(*LONG[:8]))))
    waiting = [placement.submit("a", frames.join(frames.encode(m.Info()))) for _ in range(3)]
    placement.close("a")
    placement.open("a", {})
    # The second session of the name has nothing of the first.
    assert peer(placement, "a").get("x").slug == "tensor-not-found"
    assert isinstance(frames.decode_reply(running.result(PATIENCE))[0], (m.BatchReply, m.ProblemReply))
    assert len([future.result(PATIENCE) for future in waiting]) == 3


def test_a_dead_process_answers_for_its_sessions_and_is_replaced(placement: WorkersPlacement) -> None:
    placement.open("a", {})
    writer = peer(placement, "a")
    before = placement.pids
    flying = [placement.submit("a", long_frame(writer)) for _ in range(3)]
    big = frames.join(frames.encode(m.PutTensor("big"), [np.zeros(1 << 22)]))
    flying.append(placement.submit("a", big))
    os.kill(before[0], signal.SIGKILL)
    assert [slug(future.result(PATIENCE)) for future in flying] == ["device-lost"] * 4
    assert slug(placement.submit("a", writer.sent[0]).result(PATIENCE)) == "device-lost"
    placement.open("a", {})  # it is there, and lost, until it is closed
    assert slug(placement.submit("a", writer.sent[0]).result(PATIENCE)) == "device-lost"
    placement.close("a")
    assert placement.wait_for_living(2, PATIENCE)  # until then the other takes every new session
    for name in ("a", "b", "c"):
        placement.open(name, {})
        fresh = peer(placement, name)
        fresh.put("x", [1.0])
        assert fresh.get("x").tolist() == [1.0]
    assert placement.pids[1] == before[1]
    assert placement.pids[0] != before[0]


def test_the_only_process_is_replaced_before_the_next_session() -> None:
    placement = WorkersPlacement(workers=1)
    try:
        for name in ("a", "b", "c"):
            placement.open(name, {})
            writer = peer(placement, name)
            flying = placement.submit(name, long_frame(writer))
            os.kill(placement.pids[0], signal.SIGKILL)
            assert slug(flying.result(PATIENCE)) == "device-lost"
    finally:
        placement.shutdown()


def test_what_runs_past_the_grace_is_killed() -> None:
    placement = WorkersPlacement(workers=1, threads=1, grace=0.1)
    placement.open("a", {})
    flying = placement.submit("a", long_frame(peer(placement, "a")))
    placement.shutdown()
    assert slug(flying.result(0)) == "device-lost"
    assert all(gone(pid) for pid in placement.pids)


def test_a_device_that_is_not_there_is_told_at_the_start() -> None:
    with pytest.raises(RuntimeError, match=r"cupy|device|CUDA|driver"):
        WorkersPlacement(workers=1, device="cuda:97")


# -- the daemon ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A daemon's URL and process, with two engine processes."""
    data = tmp_path_factory.mktemp("workers")
    log = data / "log"
    command = [sys.executable, "-m", "gradd_server", "serve", "--port", "0", "--data-dir", str(data / "data")]
    with log.open("wb") as sink:
        process = subprocess.Popen([*command, "--workers", "2", "--threads", "1"], stderr=sink)
    end = time.monotonic() + PATIENCE
    while b"http://" not in log.read_bytes():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < end
        os.sched_yield()
    url = "http://" + log.read_text().split("http://")[1].split()[0]
    yield url, process
    engines = children(process.pid)
    assert len(engines) == 2
    process.terminate()
    assert process.wait(PATIENCE) == 0
    assert all(gone(pid) for pid in engines)


def children(pid: int) -> list[int]:
    """The engine processes of the daemon `pid`."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return found


def test_the_mirror_says_what_a_worker_says(served: tuple[str, Any]) -> None:
    gc.collect()
    gc.disable()  # a collection may drop a tensor between two looks at the session
    try:
        for seed in range(10):
            run(seed, served[0])
    finally:
        gc.enable()


def test_a_killed_engine_is_a_503_and_the_daemon_lives(served: tuple[str, Any]) -> None:
    url, process = served
    with httpx.Client(base_url=url, headers=bearer(url), timeout=PATIENCE, trust_env=False) as client:
        body = {"steps": [{"op": step.op, "inputs": [f"t{i}" for i in step.inputs], "outputs": [f"t{n}"],
                           "attrs": step.attrs} for n, step in enumerate(LONG)]}  # fmt: skip
        assert client.put("/v1/sessions/doomed", json=FLEETING).status_code == 201
        answers: list[httpx.Response] = []
        asking = threading.Thread(
            target=lambda: answers.append(
                httpx.post(
                    f"{url}/v1/sessions/doomed/batches",
                    json=body,
                    headers=bearer(url),
                    timeout=PATIENCE,
                    trust_env=False,
                )
            )
        )
        asking.start()
        while client.get("/readyz?verbose").json()["unanswered"] < 1:
            assert asking.is_alive()
        for _ in range(50):
            assert client.get("/livez").status_code == 200
        assert not answers  # fifty came before the one that was asked for first
        for pid in children(process.pid):
            os.kill(pid, signal.SIGKILL)
        asking.join(PATIENCE)
        assert answers[0].status_code == 503
        assert answers[0].json()["type"] == "/problems/device-lost"
        assert "doomed" in client.get("/v1/sessions/doomed").json()["detail"]
        assert client.delete("/v1/sessions/doomed").status_code == 204
        while (again := client.put("/v1/sessions/doomed", json=FLEETING)).status_code == 503:
            # No process yet, or one whose end was not noticed yet, and with it the new session.
            assert again.json()["type"] == "/problems/device-lost"
            client.delete("/v1/sessions/doomed")
        assert again.status_code == 201
        assert client.delete("/v1/sessions/doomed").status_code == 204


def test_a_batch_over_rest_is_cancelled(served: tuple[str, Any]) -> None:
    url, _ = served
    with httpx.Client(base_url=url, headers=bearer(url), timeout=PATIENCE, trust_env=False) as client:
        body = {"steps": [{"op": step.op, "inputs": [f"t{i}" for i in step.inputs], "outputs": [f"t{n}"],
                           "attrs": step.attrs} for n, step in enumerate(LONG)]}  # fmt: skip
        assert client.put("/v1/sessions/slow", json=FLEETING).status_code == 201
        answers: list[httpx.Response] = []
        asking = threading.Thread(
            target=lambda: answers.append(
                httpx.post(
                    f"{url}/v1/sessions/slow/batches",
                    json=body,
                    headers={**bearer(url), "Idempotency-Key": "k"},
                    timeout=PATIENCE,
                    trust_env=False,
                )
            )
        )
        asking.start()
        while not answers:
            assert client.post("/v1/sessions/slow:cancel", json={"writer": 0}).status_code == 204
        asking.join(PATIENCE)
        assert (answers[0].status_code, answers[0].json()["type"]) == (409, "/problems/cancelled")
        again = client.post("/v1/sessions/slow/batches", json=body, headers={"Idempotency-Key": "k"})
        assert (again.status_code, again.json()) == (409, answers[0].json())
        assert again.headers["Gradd-Replayed"] == "?1"
        assert client.post("/v1/sessions/slow/batches", json={"steps": []}).status_code == 200
        assert client.delete("/v1/sessions/slow").status_code == 204


def test_the_programs_here_are_valid() -> None:
    assert len(Program(0, LONG).id()) == 32
