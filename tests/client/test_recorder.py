"""Where a batch ends, what it brings along, and what makes two programs one (docs/design.md, section 1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradd
import gradd as torch
import pytest
from gradd_protocol.limits import DEFAULT


@pytest.fixture
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


@pytest.fixture(params=["local", "stream", "http"])
def wired(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A session over each transport."""
    url = "local:" if request.param == "local" else request.getfixturevalue("daemon")
    with gradd.connect(url, transport="http" if request.param == "http" else "stream") as s:
        yield s


class Since:
    """What a session's counts grew by."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.before = session.stats()

    def __getitem__(self, name: str) -> int:
        return int(self.session.stats()[name] - self.before[name])


def programs(session: Any) -> list[str]:
    """The ids of the programs of all batches that had steps, in order, from here on."""
    seen: list[str] = []
    post = session.wire.post

    def watch(sent: Any) -> None:
        if sent.built.steps:
            seen.append(sent.message.program)
        post(sent)

    session.wire.post = watch
    return seen


# -- rules (a) to (e) --------------------------------------------------------------------------


def test_nothing_is_sent_until_something_ends_the_batch(session: Any) -> None:
    since = Since(session)
    x = torch.ones(3, requires_grad=True)
    y = (x * 2).sum()
    y.backward()
    x.requires_grad_(False)
    assert x.grad.shape == (3,)
    assert since["batches"] == 0


def test_a_value_that_is_not_there_ends_the_batch(session: Any) -> None:
    x = torch.ones(3)
    since = Since(session)
    assert (x * 2).tolist() == [2.0, 2.0, 2.0]
    assert since["batches"] == since["round_trips"] == 1


def test_a_value_that_is_there_sends_nothing(session: Any) -> None:
    y = torch.ones(3) * 2
    assert y.tolist() == [2.0, 2.0, 2.0]
    since = Since(session)
    assert y.tolist() == [2.0, 2.0, 2.0]
    assert float(y[:1].sum()) == 2.0
    assert since["batches"] == 1


def test_an_in_place_write_makes_a_value_be_asked_for_again(session: Any) -> None:
    x = torch.ones(3)
    view, data = x[:1], x.data
    assert x.tolist() == [1.0, 1.0, 1.0]
    view.mul_(5)
    assert x.tolist() == [5.0, 1.0, 1.0]
    data.add_(1)
    assert x.tolist() == [6.0, 2.0, 2.0]


def test_an_optimizer_step_ends_the_batch_and_waits_for_nothing(session: Any) -> None:
    w = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    session.flush()
    since = Since(session)
    (w * w).sum().backward()
    assert since["batches"] == 0
    optimizer.step()
    assert (since["batches"], since["round_trips"]) == (1, 0)


def test_the_first_op_with_a_node_after_a_pass_ends_the_batch(session: Any) -> None:
    w = torch.ones(3, requires_grad=True)
    session.flush()
    since = Since(session)
    for _ in range(3):
        (w * w).sum().backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
    assert since["batches"] == 2  # hand-written updates stay with their step; the third is still open
    session.flush()
    assert since["batches"] == 3


def test_a_pass_that_keeps_its_graph_ends_nothing(session: Any) -> None:
    w = torch.ones(3, requires_grad=True)
    session.flush()
    since = Since(session)
    y = (w * w).sum()
    y.backward(retain_graph=True)
    z = w * 2
    (g,) = torch.autograd.grad(z.sum(), [w], create_graph=True)
    g.sum()
    assert since["batches"] == 0


@pytest.mark.parametrize("end", ["flush", "name", "unname", "close"])
def test_flush_naming_and_close_end_the_batch(end: str) -> None:
    with gradd.connect("local:") as session:
        session["there"] = torch.zeros(1)
        since = Since(session)
        x = torch.ones(3)
        if end == "flush":
            session.flush()
        elif end == "name":
            session["x"] = x
        elif end == "unname":
            del session["there"]
        else:
            session.close()
        assert since["steps"] == 1
        assert since["batches"] >= 1


def test_a_long_loop_is_cut_where_it_repeats(session: Any) -> None:
    x = torch.zeros(())
    session.flush()
    seen = programs(session)
    since = Since(session)
    for _ in range(3333):
        x = x + 1
        x = x * 1
        x = x - 0
    assert x.item() == 3333.0
    assert since["steps"] == 9999
    assert len(seen) == 3
    assert seen[0] == seen[1]
    assert all(len(b) <= DEFAULT.batch_steps for b in [range(4095), range(9999 - 2 * 4095)])


def test_a_cut_carries_over_what_later_steps_read(session: Any) -> None:
    kept, total = [], torch.zeros(2)
    for i in range(1500):
        a, b = torch.tensor([1.0, float(i)]).unbind()
        if i % 500 == 0:
            kept.append(a + b)
        total = total + torch.stack([b, a])
    assert [t.item() for t in kept] == [1.0, 501.0, 1001.0]
    assert total.tolist() == [1499 * 1500 / 2, 1500.0]


def test_uploads_of_one_batch_fit_a_message(session: Any) -> None:
    import numpy as np

    parts = [torch.from_numpy(np.full(60_000, i, np.float32)) for i in range(20)]
    assert [p[0].item() for p in parts] == [float(i) for i in range(20)]


def test_large_arrays_go_ahead_and_come_back_whole(wired: Any) -> None:
    import numpy as np

    data = np.random.default_rng(0).standard_normal((300, 400)).astype(np.float32)
    x = torch.from_numpy(data)
    data_before = data.copy()
    data[:] = 0
    with pytest.warns(gradd.LostWriteWarning):
        np.testing.assert_array_equal(x.numpy(), data_before)
    np.testing.assert_array_equal((x * 2).numpy(), data_before * 2)


# -- predicted fetches -------------------------------------------------------------------------


def test_a_training_step_is_one_round_trip(wired: Any) -> None:
    w = torch.ones(4, 3, requires_grad=True)
    optimizer = torch.optim.Adam([w], lr=0.01)
    losses = []
    for step in range(8):
        if step == 2:
            since, served = Since(wired), wired.info().round_trips
        x = torch.tensor([[float(step), 1.0, 2.0]])
        optimizer.zero_grad()
        loss = ((x @ w.T) ** 2).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert (since["round_trips"] - 1, since["batches"]) == (6, 6)  # `info` itself was waited for
    assert wired.info().round_trips - served == since["round_trips"] - 1
    assert len(set(losses)) == 8


def test_a_value_read_before_the_pass_costs_one_round_trip_a_step(wired: Any) -> None:
    w = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    for step in range(6):
        if step == 2:
            since = Since(wired)
        loss = (w * w).sum()
        loss.item()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    assert (since["round_trips"], since["batches"]) == (4, 8)


def test_a_loop_that_clears_gradients_last_settles_to_one_message_a_step(session: Any) -> None:
    w = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    for step in range(12):
        if step == 2:
            since = Since(session)
        if step == 6:
            settled = Since(session)
        loss = (w * w).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        loss.item()
    assert since["round_trips"] == 10
    assert (settled["round_trips"], settled["batches"]) == (6, 6)


def test_what_is_not_read_any_more_is_not_brought(session: Any) -> None:
    w = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    session.flush()
    asked = []
    post = session.wire.post
    session.wire.post = lambda sent: (asked.append(len(sent.message.fetch)), post(sent))[1]
    for step in range(7):
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        optimizer.step()
        if step < 3:
            loss.item()
    assert asked == [0, 1, 1, 1, 1, 0, 0, 0]


# -- identity ----------------------------------------------------------------------------------


def test_values_are_no_part_of_a_program(session: Any) -> None:
    seen = programs(session)
    for value in (1.0, 2.5, float("nan"), float("inf")):
        (torch.ones(2) + value).tolist()
    assert len(set(seen)) == 1


def test_kinds_and_static_parameters_are(session: Any) -> None:
    seen = programs(session)
    x = torch.ones(2, 2)
    session.flush()
    seen.clear()
    for op in (
        lambda: x + 1,
        lambda: x + 1.0,
        lambda: x + True,
        lambda: x.sum(0),
        lambda: x.sum(1),
        lambda: x**2.0,
    ):
        op().tolist()
    with torch.no_grad():
        (x + 1).tolist()
    assert len(set(seen)) == len(seen) == 7


def test_a_known_program_travels_as_its_id(session: Any) -> None:
    x = torch.ones(2)
    for _ in range(2):
        (x.sin().cos() * 0.5).tolist()
    since = Since(session)
    (x.sin().cos() * 0.25).tolist()
    assert since["bytes_sent"] < 400


def test_what_the_garbage_collector_does_is_no_part_of_a_program(session: Any) -> None:
    seen = programs(session)
    x = torch.ones(2)
    session.flush()
    seen.clear()
    y = x * 2
    y.sum().item()
    (x * 2).sum().item()
    assert seen[0] == seen[1]
