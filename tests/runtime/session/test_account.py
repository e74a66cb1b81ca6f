"""The account is the truth: what a session says it holds is what the process holds, within 10 % and 8 MiB."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from gradd_engine.data import collect
from gradd_protocol import messages as m
from gradd_protocol.limits import DEFAULT, MIB
from gradd_protocol.program import Step, Value
from gradd_runtime.session import Session, json_batches, perform

from tests.runtime.peer import FILL, Peer

pytestmark = pytest.mark.usefixtures("settled")
#: random sessions, and what they and the kinds come to, in about MiB; with GRADD_ACCOUNTS more of all
SESSIONS = int(os.environ.get("GRADD_ACCOUNTS", "1"))
HEAVY = "GRADD_ACCOUNTS" in os.environ
SIZE = 20 if HEAVY else 11
#: bytes of an account's error beside 10 % of it
SLACK = 8 * MIB if HEAVY else 5 * MIB


class Client:
    """Does one thing after another in a session; `size` scales each."""

    def __init__(self, limit: int = DEFAULT.session_bytes) -> None:
        self.session = Session("account", limit=limit)
        self.peer = Peer(self.session)
        self.keys = 0
        self.ids = 0
        self.acknowledged = True
        self.peer.put("w", np.ones(4, np.float32), True)
        self.peer.put("p", np.ones((50, 50), np.float32))
        self.peer.put("q", np.ones(10_000, np.float32))

    def batch(self, *steps: Step, **more: Any) -> Any:
        reply = self.peer.batch(*steps, **more)
        self.peer.sent.clear()
        self.peer.replies.clear()
        if not self.acknowledged and isinstance(reply, m.BatchReply):
            self.peer.ack = 0
        return reply

    def keep(self, count: int) -> dict[str, Any]:
        self.ids += count
        return {"first": self.ids - count, "keep": list(range(count))}

    # -- what takes memory ---------------------------------------------------------------------------

    def scalars(self, size: int) -> None:
        for _ in range(5 * size):
            self.batch(*[Step("zeros", [], {"size": []})] * 200, **self.keep(200))

    def tensors(self, size: int) -> None:
        self.batch(Step("zeros", [], {"size": [size, 256, 1024]}), **self.keep(1))

    def nodes(self, size: int) -> None:
        chain = [Step("mul", [i, Value("float")]) for i in range(200)]
        name = "w"
        for _ in range(5 * size):
            self.ids += 1
            more = {"inputs": [name], "values": [1.0] * 200, "first": self.ids, "keep": [200]}
            assert self.batch(*chain, **more).problem is None
            name = f"@1.{self.ids}"

    def views_of_temporaries(self, size: int) -> None:
        draw = Step("multinomial", [0], {"num_samples": 20})
        self.batch(*[draw] * (8 * size), inputs=["q"], first=self.ids, keep=[*range(1, 8 * size + 1)])
        self.ids += 8 * size

    def replies(self, size: int) -> None:
        self.acknowledged = False
        for _ in range(size):
            self.batch(Step("zeros", [], {"size": [60_000]}), fetch=[0] * 4)
        self.acknowledged = True

    def copies(self, size: int) -> None:
        self.acknowledged = False
        expand = Step("expand", [0], {"size": [size, 256, 1024, 4]})
        self.batch(expand, inputs=["w"], fetch=[1])
        self.batch(FILL)
        self.acknowledged = True

    def pins(self, size: int) -> None:
        self.acknowledged = False
        self.batch(Step("zeros", [], {"size": [size, 256, 1024]}), fetch=[0])
        self.acknowledged = True

    def answers(self, size: int) -> None:
        for _ in range(size):
            self.keys += 1
            body = {
                "steps": [{"op": "rand", "attrs": {"size": [60_000]}, "outputs": ["%z"]}], "fetch": ["%z"]
            }  # fmt: skip
            status, _ = self.peer.json(json.dumps(body).encode(), idempotency_key=f"key{self.keys}")
            assert status == 200
            self.peer.sent.clear()
            self.peer.replies.clear()

    def uploads(self, size: int) -> None:
        self.ids += 1
        values = np.ones((size, 256, 1024), np.float32)
        self.peer.ask(m.Stage(f"1.{self.ids}"), [values])
        self.peer.sent.clear()

    def programs(self, size: int) -> None:
        for _ in range(size):
            self.keys += 1
            self.batch(*[Step("add", [i, 0], {"alpha": self.keys}) for i in range(1000)], inputs=["p"])

    def acknowledge(self, size: int) -> None:
        self.batch(FILL)

    def forget(self, size: int) -> None:
        self.batch(free=list(self.session.table.ids)[: 10_000 * size])


ACTIONS: dict[str, Callable[[Client, int], None]] = {
    "scalars": Client.scalars, "tensors": Client.tensors, "nodes": Client.nodes,
    "views of temporaries": Client.views_of_temporaries, "replies": Client.replies, "copies": Client.copies,
    "pins": Client.pins, "answers": Client.answers, "uploads": Client.uploads, "programs": Client.programs,
    "acknowledge": Client.acknowledge, "forget": Client.forget,
}  # fmt: skip


@pytest.fixture(scope="module")
def warm() -> None:
    """What the first of each kind leaves behind is the process's."""
    for act in ACTIONS.values():
        act(Client(), 1)


@pytest.fixture
def traced(warm: None) -> Iterator[Callable[[], int]]:
    """Bytes that the process has come to hold since the fixture began."""
    collect()
    tracemalloc.start()
    began = tracemalloc.get_traced_memory()[0]

    def held() -> int:
        collect()
        return tracemalloc.get_traced_memory()[0] - began

    yield held
    tracemalloc.stop()


def check(client: Client, traced: Callable[[], int], what: str) -> None:
    found, account = traced(), client.session.account
    said = account.whole
    assert abs(found - said) <= 0.1 * max(found, said) + SLACK, (
        f"{what}: {found / MIB:.1f} MiB are held, {said / MIB:.1f} counted "
        f"({account.used / MIB:.1f} of tensors, {account.other / MIB:.1f} beside them)"
    )


@pytest.mark.parametrize("what", ACTIONS)
def test_of_one_kind(traced: Callable[[], int], what: str) -> None:
    client = Client()
    ACTIONS[what](client, SIZE)
    check(client, traced, what)


@pytest.mark.parametrize("seed", range(SESSIONS))
def test_of_random_sessions(traced: Callable[[], int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    client, done = Client(), []
    for _ in range(6):
        what = str(rng.choice(list(ACTIONS)))
        done.append(what)
        ACTIONS[what](client, int(rng.integers(1, 12 if HEAVY else 6)))
        check(client, traced, ", ".join(done))


# -- refused before it is taken ----------------------------------------------------------------------


def refused(client: Client, run: Callable[[], Any]) -> None:
    """A problem of the quota, and nowhere near more memory than that at any time."""
    tracemalloc.start()
    try:
        problem = run()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (problem.slug, problem.status, problem.exception) == ("quota-exceeded", 507, "RuntimeError")
    assert problem.limit == client.session.account.limit
    assert peak < problem.limit + 24 * MIB
    assert client.batch(FILL).problem is None


def test_copies_that_a_fetch_makes() -> None:
    client = Client(limit=32 * MIB)
    expand = Step("expand", [0], {"size": [1 << 23, 4]})
    refused(client, lambda: client.batch(expand, inputs=["w"], fetch=[1]).problem)
    client.batch(expand, inputs=["w"], bind={"e": 1})
    refused(client, lambda: client.peer.get("e"))


def test_many_tensors_at_once_are_counted_before_they_are_read() -> None:
    client = Client(limit=32 * MIB)
    client.batch(Step("expand", [0], {"size": [1 << 18, 4]}), inputs=["w"], bind={"e": 1})
    read = [client.peer.ask(m.GetTensors(["e"] * n))[0] for n in (1, 4, 16)]
    assert [info.shape for info in read[0].infos] == [[1 << 18, 4]]
    assert read[1].infos[3] == read[0].infos[0]
    assert read[2].problem.slug == "not-acceptable"
    client.session.account.limit = client.session.account.held + MIB
    assert client.peer.ask(m.GetTensors(["e"]))[0].problem.slug == "quota-exceeded"


def test_pins_that_nobody_reads() -> None:
    client = Client(limit=32 * MIB)
    client.acknowledged = False
    big = Step("zeros", [], {"size": [1 << 20]})

    def run() -> Any:
        for _ in range(60):
            problem = client.batch(big, fetch=[0]).problem
            if problem is not None:
                client.acknowledged = True
                client.peer.ack = client.peer.seq
                return problem
        raise AssertionError("nothing was refused")

    refused(client, run)


def test_graphs_that_grow() -> None:
    client = Client(limit=5 * MIB)
    chain = [Step("mul", [i, Value("float")]) for i in range(300)]

    def run() -> Any:
        name = "w"
        for n in range(60):
            more = {"inputs": [name], "values": [1.0] * 300, "first": n, "keep": [300]}
            problem = client.batch(*chain, **more).problem
            if problem is not None:
                client.batch(free=[f"@1.{k}" for k in range(n)])
                return problem
            name = f"@1.{n}"
        raise AssertionError("nothing was refused")

    refused(client, run)


def test_a_session_beyond_its_limit_frees_and_reads() -> None:
    client = Client()
    client.tensors(1)
    account = client.session.account
    account.limit = 1 << 10
    assert client.batch(FILL).problem.slug == "quota-exceeded"
    client.peer.ack = client.peer.seq
    assert client.batch(fetch=["w"]).problem is None
    assert client.batch(free=list(client.session.table.ids)).problem is None
    assert account.used < MIB


def test_what_a_batch_frees_is_room_for_its_steps() -> None:
    client = Client(limit=24 * MIB)
    large = Step("zeros", [], {"size": [16 << 18]})
    assert client.batch(large, keep=[0], first=7).problem is None
    assert client.batch(large, keep=[0], first=8, free=["@1.7"]).problem is None
    # also where the program is new, and would itself not fit
    client.session.account.limit = client.session.account.held
    small = Step("zeros", [], {"size": [2]})
    assert client.batch(small, small).problem.slug == "quota-exceeded"
    client.peer.ack = client.peer.seq
    assert client.batch(small, small, free=["@1.8"]).problem is None
    assert client.session.account.used < MIB


def test_what_no_later_step_reads_makes_room() -> None:
    client = Client(limit=16 * MIB)
    chain = [Step("add", [i, Value("float")]) for i in range(100)]
    wide = Step("zeros", [], {"size": [1 << 19]})
    for _ in range(4):
        reply = client.batch(wide, *chain, values=[1.0] * 100, fetch=[50, 100])
        assert reply.problem is None
        assert client.session.account.peak < 10 * MIB


def test_what_a_batch_names_is_freed_behind_its_steps() -> None:
    client = Client()
    client.batch(Step("zeros", [], {"size": [2]}), keep=[0], first=7)
    double = Step("mul", [0, Value("float")])
    assert client.batch(double, inputs=["@1.7"], values=[2.0], fetch=["@1.7"], free=["@1.7"]).problem is None
    refusal = client.batch(fetch=["@1.7"]).problem
    assert refusal.slug == "tensor-not-found"


def test_uploads_beyond_the_quota() -> None:
    client = Client(limit=3 * MIB)
    large = np.ones(1 << 21, np.float32)
    refused(client, lambda: client.peer.ask(m.PutTensor("x", False), [large])[0].problem)
    refused(client, lambda: client.peer.ask(m.Stage("1.1"), [large])[0].problem)


def test_replies_that_nobody_acknowledges() -> None:
    client = Client()
    client.acknowledged = False
    for _ in range(DEFAULT.window_batches):
        assert client.batch(FILL).problem is None
    refusal = client.batch(FILL)
    assert refusal.problem.slug == "window-exceeded"
    client.peer.ack = client.peer.seq
    assert client.batch(FILL).problem is None


def test_bytes_of_replies_that_nobody_acknowledges() -> None:
    """What is too much for replies is pinned, which counts; descriptions of tensors are not sent for ever."""
    client = Client(limit=64 * MIB)
    client.acknowledged = False
    large = Step("zeros", [], {"size": [60_000]})
    pinned = []
    for _ in range(40):
        reply = client.batch(large, fetch=[0] * 4)
        assert reply.problem is None
        pinned.append(sum(result.pinned is not None for result in reply.results))
    writer = client.session.writers[1]
    assert writer.held <= DEFAULT.window_bytes < 40 * 4 * 240_000
    assert pinned[:34] == [0] * 34
    assert pinned[-1] == 4
    client.keep(200)
    assert client.batch(*[Step("zeros", [], {"size": []})] * 200, first=0, keep=[*range(200)]).problem is None
    ids = [f"@1.{n % 200}" for n in range(60_000)]
    refused = [client.batch(state=ids).problem for _ in range(8)][-1]
    assert (refused.slug, refused.limit) == ("window-exceeded", DEFAULT.window_bytes)
    assert refused.used > refused.limit
    client.acknowledged = True
    client.peer.ack = client.peer.seq
    assert client.batch(FILL).problem is None
    assert client.session.writers[1].held < MIB


def test_answers_under_keys_are_kept_up_to_a_number_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_batches, "KEY_BYTES", 1 << 20)
    client = Client()
    body = {"steps": [{"op": "zeros", "attrs": {"size": [1 << 15]}, "outputs": ["%z"]}], "fetch": ["%z"]}
    for n in range(10):
        assert client.peer.json(body, idempotency_key=f"{n}")[0] == 200
    assert client.session.desk.bytes <= 1 << 20
    assert client.session.account.other >= client.session.desk.bytes > 1 << 19


def test_the_end_of_a_session_returns_all_that_was_counted() -> None:
    client = Client()
    for act in ACTIONS.values():
        act(client, 1)
    client.session.close()
    assert (client.session.account.used, client.session.account.other) == (0, 0)


def test_an_answer_that_cannot_be_written_leaves_nothing_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client()
    client.peer.put("x", np.ones((100, 200)).tolist())
    body = {"steps": [{"op": "t", "inputs": ["x"], "outputs": ["%t"]}], "fetch": ["%t"]}
    for _ in range(3):  # the plan is made
        assert client.peer.json(body)[0] == 200
    before = client.session.account.other

    def full(*args: object) -> None:
        raise MemoryError

    monkeypatch.setattr(json_batches, "json_answer", full)
    assert client.peer.json(body)[0] == 507
    assert client.session.account.other == before


def test_a_copy_that_gets_no_memory_leaves_nothing_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client()
    made = perform.values_of

    def full(t: Any, account: Any) -> Any:
        if t.shape == (3, 100):
            raise MemoryError
        return made(t, account)

    monkeypatch.setattr(perform, "values_of", full)
    client.peer.put("x", np.ones((100, 200), np.float32))
    client.peer.put("y", np.ones((100, 3), np.float32))
    steps = [Step("t", [0]), Step("t", [1])]
    for _ in range(3):  # the plan is made
        assert client.batch(*steps, inputs=["x", "y"], fetch=[2]).problem is None
    before = client.session.account.other
    for _ in range(4):
        problem = client.batch(*steps, inputs=["x", "y"], fetch=[2, 3]).problem
        client.peer.ack = client.peer.seq
        assert problem.slug == "quota-exceeded"
    assert client.session.account.other - before < 80_000  # the copy of x, once
