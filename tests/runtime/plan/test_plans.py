"""Plans never change meaning: the same frames give the same bytes, planned at first sight and never
planned.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import gradd
import msgspec
import numpy as np
import pytest
from gradd._transports.local import _inline
from gradd_engine.backends.array import NUMPY
from gradd_engine.data import Doubts, collect
from gradd_engine.tensor.nodes import LazyNode, node_of
from gradd_protocol.frames import decode_reply
from gradd_protocol.messages import Attached
from gradd_runtime.plan import cache
from gradd_runtime.process import InlinePlacement
from gradd_runtime.session import Session

from tests.congruence.graphs import graph
from tests.congruence.programs import Script
from tests.runtime.peer import Peer

pytestmark = pytest.mark.usefixtures("settled")
#: random programs in all; `make fuzz` runs more of them (tests/runtime/fuzz.py)
PROGRAMS = int(os.environ.get("GRADD_PROGRAMS", "1000"))
#: actions in a batch of a random program: more short ones than long ones, which take longer
LENGTHS = (3, 14, 6, 3, 6)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[bytes]]:
    """The frames that each session of this process was sent."""
    frames: dict[str, list[bytes]] = {}
    real = InlinePlacement._run

    def run(self: InlinePlacement, name: str, frame: Any) -> bytes:
        frames.setdefault(name, []).append(bytes(frame))
        return real(self, name, frame)

    monkeypatch.setattr(InlinePlacement, "_run", run)
    return frames


def replay(
    frames: list[bytes], *, enabled: bool, backend: Any = NUMPY, doubts: Doubts | None = None
) -> tuple[list[bytes], Session]:
    """Send the frames to a fresh session: its replies and what is left in it."""
    session = Session("replayed", backend=backend)
    if doubts is not None:
        session.doubts = doubts
    session.plans.enabled, session.plans.first_eager = enabled, False
    return [session.submit(f) for f in frames], session


def told(reply: bytes) -> Any:
    """A reply without how many bytes the session uses, for a plan may hold what it hands out a moment longer,
    and on which device.
    """
    message, buffers = decode_reply(reply)
    if isinstance(message, Attached):
        same = msgspec.structs.replace(message.session, bytes=0, device=msgspec.UNSET)
        message = msgspec.structs.replace(message, session=same)
    return message, [(b.dtype, b.shape, b.tobytes()) for b in buffers]


def compare(frames: list[bytes]) -> dict[str, int]:
    """Both runs answer alike and end alike, to the bit; the counts of the planned one."""
    # The session's end may still be collecting on its thread, and one collection at a time is all there is.
    _inline().submit("", b"").result()
    eager, planned = replay(frames, enabled=False), replay(frames, enabled=True)
    assert_alike(frames, eager, planned)
    return planned[1].plans.counts


def assert_alike(
    frames: list[bytes], unplanned: tuple[list[bytes], Session], other: tuple[list[bytes], Session]
) -> None:
    """Two runs, one of them planned, are the same to the bit."""
    (expected, eager), (found, planned) = unplanned, other
    for n, (a, b) in enumerate(zip(expected, found, strict=True)):
        assert a == b or told(a) == told(b), f"frame {n}: {frames[n][:2000]!r}"
    assert list(eager.table.rows()) == list(planned.table.rows())
    for name, t in eager.table.ids.items():
        other_t = planned.table.ids[name]
        np.testing.assert_array_equal(_host(t), _host(other_t), err_msg=name)
        assert t.array.dtype == other_t.array.dtype
        if t._grad is not None:
            np.testing.assert_array_equal(_host(t._grad), _host(other_t._grad), err_msg=f"{name}.grad")
            assert t._grad.strides == other_t._grad.strides
        assert graph(node_of(t)) == graph(node_of(other_t)), name
    assert eager.generator.step == planned.generator.step
    if eager.account.used != planned.account.used:  # cycles of one may be gone already
        collect()
    assert eager.account.used == planned.account.used


def _host(t: Any) -> Any:
    return t.backend.to_numpy(t)


def random_program(seed: int, name: str) -> tuple[str, Script]:
    """A random script, run in a session of its own; the session's name."""
    session = gradd.connect("local:", session=f"{name}-{seed}")
    script = Script(seed, session)
    length = LENGTHS[seed % len(LENGTHS)]
    try:
        for batch in range(4):
            script.fail() if seed % 3 == 0 and batch == 2 else script.run(length)
            script.settle()
    finally:
        script.held.clear()
        session._closed = True
        session.wire.transport.delete()
    return session.name, script


@pytest.mark.parametrize("part", range(6))
def test_random_programs_are_bit_equal(recorded: dict[str, list[bytes]], part: int) -> None:
    planned = 0
    for seed in range(part, PROGRAMS, 6):
        name, script = random_program(seed, "plans")
        try:
            planned += compare(recorded.pop(name))["planned"]
        except AssertionError as error:
            error.add_note(f"seed {seed}:\n" + "\n".join(script.log))
            raise
    assert planned > PROGRAMS // 40


def _train(optimizer: Callable[..., Any], **options: Any) -> None:
    gradd.manual_seed(0)
    model = gradd.nn.Sequential(
        gradd.nn.Linear(6, 8), gradd.nn.ReLU(), gradd.nn.Dropout(0.2), gradd.nn.Linear(8, 3)
    )
    opt = optimizer(model.parameters(), **options)
    x, y = gradd.randn(40, 6), gradd.randint(0, 3, (40,))
    loss_fn = gradd.nn.CrossEntropyLoss()
    losses = []
    for i in range(8):
        start = 8 * (i % 5)
        opt.zero_grad()
        loss = loss_fn(model(x[start : start + 8]), y[start : start + 8])
        loss.backward()
        opt.step()
        losses.append(loss)
        if i % 3 == 0:
            loss.item()
    assert all(np.isfinite(loss.item()) for loss in losses)


@pytest.mark.parametrize(
    ("optimizer", "options"),
    [
        (gradd.optim.SGD, {"lr": 0.1}),
        (gradd.optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
        (gradd.optim.Adam, {"lr": 0.01}),
        (gradd.optim.AdamW, {"lr": 0.01, "weight_decay": 0.1}),
    ],
    ids=["sgd", "nesterov", "adam", "adamw"],
)
def test_training_is_bit_equal(
    recorded: dict[str, list[bytes]], optimizer: Callable[..., Any], options: dict[str, Any]
) -> None:
    with gradd.connect("local:") as session:
        _train(optimizer, **options)
        name = session.name
    assert compare(recorded[name])["planned"] >= 6


def test_a_slice_that_moves_is_one_plan(recorded: dict[str, list[bytes]]) -> None:
    with gradd.connect("local:") as session:
        _train(gradd.optim.SGD, lr=0.1)
        name = session.name
    _, planned = replay(recorded[name], enabled=True)
    assert planned.plans.counts["traced"] < planned.plans.counts["planned"]


def test_a_value_that_a_rule_looks_at_is_part_of_the_key(recorded: dict[str, list[bytes]]) -> None:
    with gradd.connect("local:") as session:
        x = gradd.ones(3, requires_grad=True)
        for alpha in (2.0, 1.5, 2.0, 0.0, 1.5, float("inf")):
            y = gradd.add(x, x, alpha=alpha)
            y.sum().backward()
            x.grad.tolist()
        name = session.name
    assert compare(recorded[name])["planned"] >= 3


def test_numbers_that_are_stored_are_no_part_of_the_key(recorded: dict[str, list[bytes]]) -> None:
    with gradd.connect("local:") as session:
        x = gradd.zeros(3)
        mask = gradd.tensor([True, False, True])
        for value in (0.5, 1.5, 2.5, 3.5, 4.5, 5.5):
            y = gradd.full_like(x, value) + x.masked_fill(mask, value) + gradd.where(mask, x, value)
            y.fill_(value).tolist()
        name = session.name
    _, planned = replay(recorded[name], enabled=True)
    assert planned.plans.counts["traced"] < planned.plans.counts["planned"]


def test_the_first_sighting_runs_eagerly_and_the_second_is_planned() -> None:
    session = Session("sightings")
    with gradd.connect("local:") as local:
        x = gradd.ones(3)
        for _ in range(4):
            (x * 2.0).sum().item()
        session = _inline()._sessions[local.name].session
        assert session.plans.counts["planned"] == 2


def test_a_step_that_raises_midway_leaves_what_the_eager_run_leaves(recorded: dict[str, list[bytes]]) -> None:
    with gradd.connect("local:") as session:
        w = gradd.ones(4, requires_grad=True)
        table = gradd.ones(4, 2)
        for index in (0, 1, 2, 9, 3):
            at = gradd.tensor([index])
            try:
                picked = table.index_select(0, at)
                (w.sum() * picked.sum()).backward()
                w.grad.tolist()
            except IndexError:
                w.grad = None
        name = session.name
    assert compare(recorded[name])["planned"] >= 3


def test_what_outlives_a_run_is_not_overwritten_by_the_next() -> None:
    with gradd.connect("local:"):
        x = gradd.ones(3, requires_grad=True)
        kept, losses = [], []
        for i in range(6):
            loss = (x * float(i)).sum()
            loss.backward()
            kept.append(x.grad)
            losses.append(loss)
            x.grad = None
            gradd.current_session().step_done()
        assert [g.tolist() for g in kept] == [[float(i)] * 3 for i in range(6)]
        assert [float(v.detach()) for v in losses] == [3.0 * i for i in range(6)]


def test_a_graph_that_crosses_batches_stays_planned(recorded: dict[str, list[bytes]]) -> None:
    with gradd.connect("local:") as session:
        model = gradd.nn.Sequential(gradd.nn.Linear(4, 8), gradd.nn.Tanh(), gradd.nn.Linear(8, 1))
        optimizer = gradd.optim.SGD(model.parameters(), lr=0.1)
        x, y = gradd.randn(32, 4), gradd.randn(32, 1)
        for i in range(8):
            start = 4 * i
            loss = gradd.nn.functional.mse_loss(model(x[start : start + 4]), y[start : start + 4])
            assert np.isfinite(loss.item())  # the forward's batch ends here
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        name = session.name
    counts = compare(recorded[name])
    assert counts["planned"] >= 16
    assert counts["traced"] <= 8


def test_accumulation_over_batches_and_retained_graphs_are_bit_equal(
    recorded: dict[str, list[bytes]],
) -> None:
    with gradd.connect("local:") as session:
        x = gradd.tensor([1.0, 2.0, 3.0], requires_grad=True)
        for _ in range(4):
            middle = (x * 2.0).exp()
            middle.retain_grad()
            y = middle.sum()
            y.item()
            y.backward(retain_graph=True)
            x.grad.tolist()
            (first,) = gradd.autograd.grad(y, x, create_graph=True)
            first.tolist()
            (first * first).sum().backward()
            assert middle.grad.tolist() == middle.grad.tolist()
        name = session.name
    assert compare(recorded[name])["planned"] >= 12


def test_a_gradient_of_a_result_that_nobody_keeps_is_fetched() -> None:
    peer = Peer()
    peer.put("x", np.array([1.0, 2.0]), requires_grad=True)
    for _ in range(4):
        status, body = peer.json(
            {
                "steps": [
                    {"op": "mul", "inputs": ["x", 3.0], "outputs": ["%y"]},
                    {"op": "retain_grad", "inputs": ["%y"]},
                    {"op": "sum", "inputs": ["%y"], "outputs": ["%s"]},
                    {"op": "backward", "inputs": ["%s"]},
                ],
                "fetch": ["%y.grad", "%s"],
            }
        )
        assert status == 200, body
        assert body["results"]["%y.grad"]["data"] == [1.0, 1.0]
    assert peer.session.plans.counts["planned"] >= 2


def test_plans_over_the_limit_go_the_least_recently_used_first(monkeypatch: pytest.MonkeyPatch) -> None:
    peer = Peer()
    plans = peer.session.plans

    def run(n: int) -> None:
        peer.json({"steps": [{"op": "ones", "attrs": {"size": [n]}, "outputs": ["%a"]}], "fetch": ["%a"]})

    for n in (1, 2, 3):
        for _ in range(3):
            run(n)
    assert (plans.counts["traced"], plans.counts["dropped"]) == (3, 0)
    one = plans.counts["bytes"] // 3
    assert one > 1000
    monkeypatch.setattr(cache, "PLAN_BYTES", 3 * one + one // 2)
    run(1)  # used last
    for _ in range(3):
        run(4)
    assert plans.counts["dropped"] == 1
    assert plans.counts["bytes"] <= cache.PLAN_BYTES
    traced = plans.counts["traced"]
    run(1)
    assert plans.counts["traced"] == traced
    run(2)  # went; its key was sighted, so it is traced again at once
    assert plans.counts["traced"] == traced + 1


def test_a_graph_is_made_when_somebody_looks_at_it() -> None:
    with gradd.connect("local:") as session:
        w = gradd.ones(3, requires_grad=True)
        losses = []
        for _ in range(4):
            loss = (w * 2).exp().sum()
            loss.backward()
            session.step_done()
            losses.append(loss)
        session.flush()
        table = _inline()._sessions[session.name].session.table.ids
        found = table[losses[-1]._id]._fn
        assert isinstance(found, LazyNode)
        node = table[losses[-1]._id].grad_fn
        assert node is not None
        assert not node.folded
        names = []
        while node is not None and node.edges:
            names.append(node.short_name())
            node = node.edges[0] and node.edges[0].node
        assert names == ["SumBackward0", "ExpBackward0", "MulBackward0"]
        assert node is not None
        assert node.variable is table[w._id]
        with pytest.raises(RuntimeError, match="second time"):
            losses[-1].backward()


def test_a_view_whose_place_is_known_at_replay_is_rebuilt_at_that_place(
    recorded: dict[str, list[bytes]],
) -> None:
    with gradd.connect("local:") as session:
        w = gradd.ones(3, requires_grad=True)
        for n in (0, 1, 2, 1):
            w.grad = None
            base = w * 1
            y = base[n : n + 1]
            base.mul_(2)
            z = y * 3
            session.flush()  # the graph of `z` crosses to another batch
            z.sum().backward()
            assert w.grad.tolist() == [6.0 if k == n else 0.0 for k in range(3)]
        name = session.name
    assert compare(recorded[name])["planned"] >= 1
