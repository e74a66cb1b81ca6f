"""The same frames into a fresh session give the same bytes."""

from __future__ import annotations

from typing import Any

import gradd
import numpy as np
import pytest
from gradd._transports import local
from gradd_protocol.program import Step, Value
from gradd_runtime.session import Session

from tests.congruence.programs import Elsewhere, Script
from tests.runtime.peer import FILL, Peer
from tests.runtime.plan.test_plans import told


def test_frames_of_a_random_script_are_answered_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    placement = local._inline()
    frames: list[bytes] = []
    replies: list[bytes] = []
    submit = placement.submit

    def recorded(name: str, frame: Any) -> Any:
        future = submit(name, frame)
        frames.append(bytes(frame))
        replies.append(future.result())
        return future

    monkeypatch.setattr(placement, "submit", recorded)
    compared = 0
    for seed in range(12):
        frames.clear()
        replies.clear()
        session = gradd.connect("local:", session=f"determinism-{seed}")
        script = Script(seed, session)
        with Elsewhere(session):
            script.run(25)
            script.fail()
            script.settle()
        session.close()
        placement.close(session.name)
        if "amnesia" in script.log:
            continue  # a session was made to forget what its frames rely on
        fresh = Session(session.name)
        assert [told(fresh.submit(f)) for f in frames] == [told(r) for r in replies]
        compared += len(replies)
    assert compared > 60


def test_random_steps_depend_on_seed_and_number_alone() -> None:
    draw = Step("rand", [], {"size": [5], "dtype": "float32"})

    def numbers(peer: Peer, *steps: Step) -> Any:
        peer.batch(*steps, fetch=[i for i, s in enumerate(steps) if s.op == "rand"])
        return [a.tolist() for a in peer.arrays]

    first = numbers(Peer(), draw, draw)
    assert first[0] != first[1]
    other = Peer()
    assert [*numbers(other, FILL, draw), *numbers(other, draw)] == first
    assert numbers(Peer(Session("x", seed=1)), draw)[0] != first[0]


def test_a_seed_restarts_the_stream() -> None:
    peer = Peer()
    restart = Step("manual_seed", [], {"seed": Value("int")}, outputs=0)
    draw = Step("rand", [], {"size": [4], "dtype": "float32"})
    peer.batch(restart, draw, draw, restart, draw, values=[3, 3], fetch=[0, 1, 2])
    a, b, c = (x.tolist() for x in peer.arrays)
    assert a == c != b


def test_a_skipped_or_refused_batch_draws_nothing() -> None:
    one, two = Peer(), Peer()
    draw = Step("rand", [], {"size": [4], "dtype": "float32"})
    for peer in (one, two):
        peer.put("x", np.ones(2, np.float32))
    one.batch(draw, Step("no_such_op", []))
    one.batch(draw, ack=0)
    for peer in (one, two):
        peer.batch(draw, fetch=[0])
    np.testing.assert_array_equal(one.arrays[0], two.arrays[0])


def test_nothing_ambient_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("a session read a clock or entropy")

    peer = Peer()
    for target in (
        "time.time",
        "time.monotonic",
        "time.perf_counter",
        "os.urandom",
        "random.random",
        "secrets.token_bytes",
    ):
        monkeypatch.setattr(target, refuse)
    reply = peer.batch(Step("rand", [], {"size": [4]}), Step("sin", [0]), fetch=[1])
    assert reply.problem is None
