"""What raises on values raises in a planned run as in an eager one, and the session lives on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gradd
import gradd.nn.functional as F
import numpy as np
import pytest
from gradd_engine.schema.registry import REGISTRY
from gradd_runtime.plan import replay

GOOD, BAD = [0.2, 0.5, 0.9], [0.2, 1.5, 0.9]
RANGE = "all elements of input should be between 0 and 1"


@pytest.fixture(params=["local:", "daemon"])
def place(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue("daemon") if request.param == "daemon" else request.param
    return url


def _plans(session: Any) -> Any:
    from gradd._transports.local import _inline

    return _inline()._sessions[session.name].session.plans


def test_an_error_after_a_write_is_the_eager_error_and_the_session_lives_on(place: str) -> None:
    with gradd.connect(place):
        w, t = gradd.zeros(3), gradd.tensor([0.0, 1.0, 1.0])
        for n, values in enumerate([GOOD, GOOD, GOOD, BAD, GOOD, BAD, GOOD]):
            x = gradd.tensor(values)
            w.add_(1.0)
            loss = F.binary_cross_entropy(x, t)
            if values is BAD:
                with pytest.raises(RuntimeError, match=RANGE):
                    loss.item()
            else:
                assert loss.item() == pytest.approx(0.34053, abs=1e-3)
            # What came before the step that raised stands, once.
            assert w.tolist() == [n + 1.0] * 3


def test_a_loop_with_a_write_before_what_may_raise_is_planned() -> None:
    with gradd.connect("local:") as session:
        w, t = gradd.zeros(3), gradd.tensor([0.0, 1.0, 1.0])
        for _ in range(5):
            w.add_(1.0)
            F.binary_cross_entropy(gradd.tensor(GOOD), t).item()
        assert _plans(session).counts["planned"] >= 3


def test_an_op_that_raises_is_run_though_nobody_looks_at_its_result(place: str) -> None:
    with gradd.connect(place):
        t = gradd.tensor([0.0, 1.0, 1.0])
        for values in [GOOD, GOOD, GOOD, BAD, GOOD]:
            x = gradd.tensor(values)
            F.binary_cross_entropy(x, t)
            y = x * 2
            if values is BAD:
                with pytest.raises(RuntimeError, match=RANGE):
                    y.tolist()
            else:
                assert y.tolist() == pytest.approx([0.4, 1.0, 1.8])


def test_an_upload_that_was_written_to_before_something_raised_is_as_it_came(place: str) -> None:
    with gradd.connect(place):
        table = gradd.ones(3)
        for index in (0, 1, 2, 7, 1):
            x = gradd.tensor([1.0, 2.0])
            x.add_(1.0)
            picked = table[gradd.tensor([index])]
            if index == 7:
                with pytest.raises(IndexError):
                    picked.tolist()
            else:
                picked.tolist()
            assert x.tolist() == [2.0, 3.0]


def test_gradients_that_accumulate_before_something_raises_are_given_back(place: str) -> None:
    with gradd.connect(place):
        w = gradd.tensor([1.0, 2.0], requires_grad=True)
        table = gradd.ones(3, requires_grad=True)
        expected = 0.0
        for index in (0, 1, 2, 0, 7, 1):
            at = gradd.tensor([index])
            (w * 2).sum().backward()
            expected += 2.0
            picked = table[at]
            if index == 7:
                with pytest.raises(IndexError):
                    picked.sum().item()
            else:
                picked.sum().item()
            assert w.grad.tolist() == [expected] * 2


def _layers() -> Any:
    return gradd.nn.Sequential(gradd.nn.Linear(4, 6), gradd.nn.BatchNorm1d(6), gradd.nn.Linear(6, 3))


@pytest.mark.parametrize(
    "optimizer", [gradd.optim.SGD, gradd.optim.RMSprop, gradd.optim.Adagrad], ids=lambda o: o.__name__
)
def test_batch_norm_before_a_loss_that_checks_its_targets_is_planned(optimizer: Callable[..., Any]) -> None:
    with gradd.connect("local:") as session:
        gradd.manual_seed(0)
        model = _layers()
        opt = optimizer(model.parameters(), lr=0.01)
        x, y = gradd.randn(8, 4), gradd.arange(8) % 3
        for _ in range(6):
            opt.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            assert np.isfinite(loss.item())
        counts = _plans(session).counts
        assert counts["planned"] >= 3, _plans(session)._known.values()


def test_a_target_out_of_range_leaves_running_statistics_of_one_run(place: str) -> None:
    with gradd.connect(place):
        gradd.manual_seed(0)
        model = _layers()
        x = gradd.randn(8, 4)
        for n in range(6):
            before = model[1].running_mean.tolist()
            loss = F.cross_entropy(model(x), gradd.full((8,), 5 if n == 4 else 2))
            if n == 4:
                with pytest.raises(IndexError):
                    loss.item()
            else:
                loss.item()
            after = model[1].running_mean.tolist()
            # One update, whether the loss was refused or not: 0.9 of the old and a tenth of the new mean.
            mean = model[0](x).mean(0).tolist()
            np.testing.assert_allclose(
                after, 0.9 * np.array(before) + 0.1 * np.array(mean), rtol=1e-4, atol=1e-6
            )


def test_much_memory_is_not_copied_to_be_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "UNDO_BYTES", 8)
    with gradd.connect("local:") as session:
        w, t = gradd.zeros(3), gradd.tensor([0.0, 1.0, 1.0])
        for _ in range(4):
            w.add_(1.0)
            F.binary_cross_entropy(gradd.tensor(GOOD) + 0 * w, t).item()
        assert "much is written before something that may raise" in _plans(session)._known.values()
        assert w.tolist() == [4.0] * 3


def test_a_write_waits_until_nothing_more_can_raise(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.setattr(replay, "UNDO_BYTES", 0)
    with gradd.connect(place) as session:
        w, t = gradd.zeros(3), gradd.tensor([0.0, 1.0, 1.0])
        for n, values in enumerate([GOOD, GOOD, GOOD, BAD, GOOD]):
            w.add_(1.0)
            twice = w * 2
            loss = F.binary_cross_entropy(gradd.tensor(values), t)
            if values is BAD:
                with pytest.raises(RuntimeError, match=RANGE):
                    loss.item()
            else:
                loss.item()
                assert twice.tolist() == [2 * n + 2.0] * 3
            assert w.tolist() == [n + 1.0] * 3
        if place == "local:":
            assert _plans(session).counts["planned"] >= 2


def test_large_gradients_that_are_set_to_zero_do_not_keep_a_loop_from_its_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replay, "UNDO_BYTES", 0)
    with gradd.connect("local:") as session:
        model = gradd.nn.Sequential(gradd.nn.Embedding(5, 4), gradd.nn.Linear(4, 3))
        opt = gradd.optim.SGD(model.parameters(), lr=0.1)
        at, y = gradd.tensor([0, 3, 4]), gradd.tensor([0, 2, 1])
        for _ in range(6):
            opt.zero_grad(set_to_none=False)
            loss = F.cross_entropy(model(at), y)
            loss.backward()
            opt.step()
            loss.item()
        assert _plans(session).counts["planned"] >= 3


def test_a_broken_promise_is_told_and_the_session_lives_on(monkeypatch: pytest.MonkeyPatch) -> None:
    op = REGISTRY["binary_cross_entropy"]
    monkeypatch.setattr(op, "effects", replace(op.effects, raises=False))
    with gradd.connect("local:") as session:
        w, t = gradd.zeros(3), gradd.tensor([0.0, 1.0, 1.0])
        for values in [GOOD, GOOD, GOOD]:
            w.add_(1.0)
            F.binary_cross_entropy(gradd.tensor(values), t).item()
        w.add_(1.0)
        loss = F.binary_cross_entropy(gradd.tensor(BAD), t)
        with pytest.raises(RuntimeError, match="a plan failed where nothing may fail: all elements of input"):
            loss.item()
        assert "a kernel raised that is declared not to" in _plans(session)._known.values()
        assert w.tolist() == [4.0] * 3
        assert [row.version for row in session.tensors() if row.id == w._id] == [4]
        # The same program runs eagerly from here on, with the eager error.
        w.add_(1.0)
        loss = F.binary_cross_entropy(gradd.tensor(BAD), t)
        with pytest.raises(RuntimeError, match=f"^{RANGE}"):
            loss.item()
        assert (gradd.ones(2) * 2).tolist() == [2.0, 2.0]
