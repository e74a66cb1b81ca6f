"""What a loader's workers sent is uploaded while the step before runs, and released if nobody takes it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import gradd as torch
import numpy as np
import pytest
from gradd._transports import local
from gradd.utils.data import DataLoader, Dataset
from gradd.utils.data._utils.pool import Answer
from gradd_protocol import messages as m

from tests.waiting import PATIENCE

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")

SMALL, LARGE = 16, 40_000


@pytest.fixture(params=["local", "daemon"])
def session(request: pytest.FixtureRequest) -> Iterator[Any]:
    url = "local:" if request.param == "local" else request.getfixturevalue("daemon")
    with gradd.connect(url) as s:
        yield s


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many processors the machine has."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(64), raising=False)


class Numbers(Dataset[Any]):
    """Rows of arrays."""

    def __init__(self, width: int, count: int = 16, fails: int = -1) -> None:
        self.width, self.count, self.fails = width, count, fails

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> Any:
        if i == self.fails:
            raise ValueError("no picture")
        return np.full(self.width, i, np.float32), i


def loaded(width: int, count: int = 16, fails: int = -1, workers: int = 1) -> Any:
    """An iterator over batches of two."""
    return iter(DataLoader(Numbers(width, count, fails), batch_size=2, num_workers=workers))


def next_then_flush(it: Any, session: Any) -> None:
    """Where an error comes that nobody saw."""
    next(it)
    session.flush()


def arrive(it: Any) -> None:
    """Wait until all that was asked for is there."""
    there = [it._pool.arrived.get(timeout=PATIENCE) for _ in it._asked]
    for answer in there:
        it._pool.arrived.put(answer)


class Log:
    """The batches that a session sends, by the ops of their steps, and where it waits for one."""

    def __init__(self, session: Any, patch: pytest.MonkeyPatch) -> None:
        self.told: list[Any] = []
        wire, ops = session.wire, dict[str, Any]()
        post, wait, stage = wire.post, wire.wait, wire.transport.stage

        def posted(sent: Any) -> None:
            ops[sent.message.program] = [step.op for step in sent.built.steps]
            self.told.append((sent.beside, ops[sent.message.program]))
            post(sent)

        def waited(sent: Any) -> None:
            self.told.append("wait")
            wait(sent)

        def staged(key: str, array: Any) -> Any:
            self.told.append(array.ravel()[0].item())
            return stage(key, array)

        patch.setattr(wire, "post", posted)
        patch.setattr(wire, "wait", waited)
        patch.setattr(wire.transport, "stage", staged)


UPLOADS = (True, ["upload", "upload"])


def test_a_batch_is_uploaded_before_the_reply_to_the_last_step_is_awaited(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = loaded(SMALL)
    w = torch.ones(SMALL)
    x, y = next(it)
    arrive(it)
    log = Log(session, monkeypatch)
    found = (x @ w).sum().item()
    assert found == SMALL
    assert [entry if entry in (UPLOADS, "wait") else "step" for entry in log.told] == [
        "step", UPLOADS, UPLOADS, "wait",
    ]  # fmt: skip
    log.told.clear()
    x, y = next(it)
    assert log.told == []
    assert (x.shape, y.tolist()) == ((2, SMALL), [2, 3])


def test_the_bytes_of_large_ones_travel_while_two_steps_run(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = loaded(LARGE)
    x, _ = next(it)
    arrive(it)
    log = Log(session, monkeypatch)
    assert x.sum().item() == LARGE
    assert log.told[1:] == [2.0, 4.0, "wait"]  # what is under way has a number of its array here
    x, _ = next(it)
    assert log.told[4:] == [UPLOADS]
    arrive(it)
    log.told.clear()
    assert x.sum().item() == 5 * LARGE
    assert log.told[1:] == [UPLOADS, 6.0, "wait"]


def test_steps_are_the_same_program_whenever_their_data_come(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = loaded(SMALL)
    w = torch.ones(SMALL)
    log = Log(session, monkeypatch)
    total = torch.zeros(())
    for step in range(6):
        x, y = next(it)
        if step in (2, 3):
            arrive(it)
        total += (x @ w).sum() + y.sum()
        session.step_done()
    steps = [entry[1] for entry in log.told if entry != "wait" and not entry[0]]
    assert steps[1:] == [steps[1]] * (len(steps) - 1)
    assert total.item() == sum(range(12)) * (SMALL + 1)


def test_a_loop_that_reads_waits_once_a_step(session: Any) -> None:
    w = torch.ones(SMALL, requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.0)
    losses, spent = [], []
    for x, y in DataLoader(Numbers(SMALL, 20), batch_size=2, num_workers=1):
        before = session.stats()["round_trips"]
        opt.zero_grad()
        loss = ((x @ w) - y).sum()
        loss.backward()
        opt.step()
        losses.append(loss.item())
        spent.append(session.stats()["round_trips"] - before)
    assert losses == [(SMALL - 1) * (4 * i + 1) for i in range(10)]
    assert spent[1:] == [1] * 9


@pytest.mark.parametrize("width", [SMALL, LARGE])
def test_nothing_is_left_of_an_iterator_that_is_given_up(width: int) -> None:
    with gradd.connect("local:") as session:
        w = torch.ones(width)
        it = loaded(width)
        x, y = next(it)
        arrive(it)
        (x @ w).sum().item()
        del it, x, y
        session.flush()  # sends what was under way, and frees
        session.flush()
        held = local._inline()._sessions[session.name].session
        assert len(held.staged) == 0
        assert [tuple(t.shape) for t in session.tensors()] == [(width,)]


def test_a_named_session_holds_nothing_of_a_loader_when_it_is_left() -> None:
    with gradd.connect("local:", session="left"):
        it = loaded(LARGE)
        next(it)
        arrive(it)
        torch.ones(2).sum().item()
    with gradd.connect("local:", session="left") as session:
        held = local._inline()._sessions[session.name].session
        assert (len(held.staged), session.tensors()) == (0, [])
    gradd.delete_session("left", "local:")


def test_nothing_is_left_of_what_a_thread_loaded() -> None:
    with gradd.connect("local:") as session:

        def load() -> None:
            it = loaded(LARGE)
            next(it)
            arrive(it)
            torch.ones(2).sum().item()

        thread = threading.Thread(target=load)
        thread.start()
        thread.join(PATIENCE)
        other = threading.Thread(target=session.flush)  # a thread takes the place of one that is over
        other.start()
        other.join(PATIENCE)
        held = local._inline()._sessions[session.name].session
        assert len(held.staged) == 0


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("width", [SMALL, LARGE])
def test_an_error_comes_in_its_turn(session: Any, width: int, workers: int) -> None:
    it = loaded(width, fails=5, workers=workers)
    for first in (0, 2):
        x, y = next(it)
        if workers == 1 and not first:
            arrive(it)
        assert (x[:, 0].tolist(), y.tolist()) == ([first, first + 1], [first, first + 1])
        session.step_done()
    with pytest.raises(ValueError, match="no picture"):
        next(it)
    assert next(it)[1].tolist() == [6, 7]


def test_a_worker_that_dies_ahead_is_told_where_it_is_missed(session: Any) -> None:
    it = loaded(SMALL)
    next(it)
    arrive(it)
    process = it._pool.processes[0]
    process.kill()
    process.join(PATIENCE)
    it._pool._reader.join(PATIENCE)  # it has told that the worker is gone
    torch.ones(2).sum().item()
    assert [next(it)[1].tolist() for _ in range(2)] == [[2, 3], [4, 5]]
    torch.ones(2).sum().item()
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        next(it)


def test_the_order_stays(session: Any) -> None:
    w = torch.ones(SMALL)
    found = []
    for x, y in DataLoader(Numbers(SMALL, 24), batch_size=2, num_workers=3):
        found += (x @ w / SMALL).tolist()
        assert found[-2:] == y.tolist()
    assert found == list(range(24))


@pytest.mark.parametrize("width", [SMALL, LARGE])
def test_data_that_a_failed_step_took_along_are_made_again(session: Any, width: int) -> None:
    it = loaded(width)
    x, _ = next(it)
    arrive(it)
    with pytest.raises(RuntimeError, match="out of bounds"):
        torch.gather(x, 1, torch.tensor([[width], [0]])).sum().item()
    x, y = next(it)
    assert (x.sum().item(), y.tolist()) == (5 * width, [2, 3])


def test_an_error_that_nobody_saw_is_not_lost_where_an_upload_is_refused(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*more: Any) -> None:
        raise RuntimeError("no room")

    it = loaded(LARGE)
    x, _ = next(it)
    arrive(it)
    torch.gather(x, 1, torch.tensor([[LARGE], [0]]))
    with monkeypatch.context() as patch:
        patch.setattr(session.wire.transport, "stage", refuse)
        patch.setattr(session.outbox, "stage", refuse)
        session.step_done()
    with pytest.raises(RuntimeError, match="out of bounds"):
        next_then_flush(it, session)
    assert next(it)[1].tolist() in ([2, 3], [4, 5])


def test_an_error_that_others_change_brings_up_is_not_lost(
    daemon: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with gradd.connect(daemon, "ahead") as other:
        other["w"] = torch.ones(2)
        with gradd.connect(daemon, "ahead") as session:
            it = loaded(SMALL)
            w = session["w"]
            x, _ = next(it)
            arrive(it)
            other["w"].add_(1)
            other.flush()
            torch.gather(x, 1, torch.tensor([[SMALL], [0]]))
            session.recorder().flush()
            session.wire.wait_all()
            with pytest.raises(RuntimeError, match="out of bounds"):
                next_then_flush(it, session)
            assert w.tolist() == [2.0, 2.0]


def test_data_of_many_parts_are_sent_beside_the_steps(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Parts(Numbers):
        def __getitem__(self, i: int) -> Any:
            return [np.full(27_000, i, np.float32) for _ in range(6)]

    it = iter(DataLoader(Parts(0), batch_size=2, num_workers=1))
    w = torch.ones(27_000)
    log = Log(session, monkeypatch)
    for step in range(3):
        parts = next(it)
        arrive(it)
        assert (sum(parts) @ w)[1].item() == 27_000 * 6 * (2 * step + 1)
    besides = [entry[0] for entry in log.told if entry != "wait" and "upload" in entry[1]]
    assert besides
    assert all(besides)
    with pytest.raises(RuntimeError, match="out of bounds"):
        torch.gather(parts[0], 1, torch.tensor([[27_000], [0]])).sum().item()
    assert [part.sum().item() for part in next(it)] == [27_000 * 13] * 6


def test_ctrl_c_while_data_are_made_loses_none(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    it = loaded(SMALL)
    next(it)
    arrive(it)
    found = Answer.decode

    def interrupted(self: Any) -> Any:
        monkeypatch.setattr(Answer, "decode", found)
        raise KeyboardInterrupt

    monkeypatch.setattr(Answer, "decode", interrupted)
    with pytest.raises(KeyboardInterrupt):
        torch.ones(2).sum().item()
    assert [y.tolist() for _, y in it][:3] == [[2, 3], [4, 5], [6, 7]]


def test_an_upload_that_is_refused_ahead_is_sent_again(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = session.wire.transport.stage
    refused: list[str] = []

    def refusing(key: str, array: Any) -> Callable[[], None]:
        wait = stage(key, array)

        def fail() -> None:
            wait()
            refused.append(key)
            raise RuntimeError("no room")

        return fail

    monkeypatch.setattr(session.wire.transport, "stage", refusing)
    it = loaded(LARGE)
    found = []
    for _ in range(3):
        x, _ = next(it)
        found.append(x.sum().item())
    assert found == [LARGE, 5 * LARGE, 9 * LARGE]
    assert refused


@pytest.mark.parametrize("width", [SMALL, LARGE])
def test_what_cannot_be_sent_ahead_is_sent_with_its_step(
    session: Any, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(built: Any) -> None:
        raise RuntimeError("no room")

    it = loaded(width)
    next(it)
    arrive(it)
    monkeypatch.setattr(session, "send_beside", refuse)
    torch.ones(2).sum().item()
    found = [next(it)[0].sum().item() for _ in range(2)]
    assert found == [5 * width, 9 * width]


def test_a_copy_in_a_forked_child_makes_nothing(session: Any) -> None:
    it = loaded(LARGE)
    next(it)
    arrive(it)
    torch.ones(2).sum().item()
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            told = f"{torch.ones(3).sum().item()}"
            os.write(into, told.encode())
        finally:
            os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as pipe:
        assert pipe.read() == b"3.0"
    os.waitpid(pid, 0)
    assert [y.tolist() for _, y in it][:2] == [[2, 3], [4, 5]]


def test_another_thread_does_not_take_what_this_one_iterates(session: Any) -> None:
    it = loaded(SMALL)
    next(it)
    arrive(it)
    taken: list[int] = []

    def work() -> None:
        torch.ones(2).sum().item()
        taken.append(it._pool.arrived.qsize())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(PATIENCE)
    assert taken == [2]
    assert isinstance(session.wire.request(m.Info())[0], m.SessionReply)
