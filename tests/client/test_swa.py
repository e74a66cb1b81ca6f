"""Averaged models, their schedule and batch norm's statistics: torch.optim.swa_utils' values and checks."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import numpy as np
import pytest
from gradd import nn
from gradd.optim import lr_scheduler, swa_utils

RNG = np.random.default_rng(4)
BATCHES = [RNG.normal(size=(6, 3)).astype("float32") for _ in range(7)]
WEIGHT = RNG.normal(size=(4, 3)).astype("float32")

Way = Callable[[Any, Any], Any]
WAYS: dict[str, Way] = {
    "SWA": lambda T, m: T.optim.swa_utils.AveragedModel(m),
    "SWA, buffers": lambda T, m: T.optim.swa_utils.AveragedModel(m, use_buffers=True),
    "SWA, one by one": lambda T, m: T.optim.swa_utils.AveragedModel(
        m, avg_fn=T.optim.swa_utils.get_swa_avg_fn()
    ),
    "EMA": lambda T, m: T.optim.swa_utils.AveragedModel(
        m, multi_avg_fn=T.optim.swa_utils.get_ema_multi_avg_fn(0.7), use_buffers=True
    ),
    "EMA, one by one": lambda T, m: T.optim.swa_utils.AveragedModel(
        m, avg_fn=T.optim.swa_utils.get_ema_avg_fn(0.3)
    ),
    "of one's own": lambda T, m: T.optim.swa_utils.AveragedModel(
        m, "cpu", avg_fn=lambda average, value, n: average + value * n
    ),
}


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


def _model(T: Any) -> Any:
    model = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.BatchNorm1d(4), T.nn.Tanh())
    with T.no_grad():
        model[0].weight.copy_(T.tensor(WEIGHT))
        model[0].bias.zero_()
    return model


def _trained(T: Any, make: Way) -> tuple[Any, Any]:
    model = _model(T)
    averaged = make(T, model)
    opt = T.optim.SGD(model.parameters(), lr=0.5)
    for x in BATCHES:
        opt.zero_grad()
        (model(T.tensor(x)) ** 2).mean().backward()
        opt.step()
        averaged.update_parameters(model)
    return model, averaged


def _held(model: Any) -> list[tuple[str, Any]]:
    return [(name, t.tolist()) for name, t in model.state_dict().items()]


@pytest.mark.oracle
@pytest.mark.parametrize("way", WAYS)
def test_averages_follow_torch(oracle: Callable[..., Any], way: str) -> None:
    def found(T: Any) -> Any:
        _, averaged = _trained(T, WAYS[way])
        averaged.eval()
        return [*_held(averaged), ("", averaged(T.tensor(BATCHES[0])).tolist())]

    mine, theirs = found(gradd), oracle(found)
    assert [name for name, _ in mine] == [name for name, _ in theirs]
    for (_, a), (_, b) in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)


@pytest.mark.oracle
def test_batch_norms_get_the_statistics_of_a_loader(oracle: Callable[..., Any]) -> None:
    def found(T: Any) -> Any:
        _, averaged = _trained(T, WAYS["SWA"])
        averaged.eval()
        T.optim.swa_utils.update_bn([(T.tensor(x), 0) for x in BATCHES], averaged)
        T.optim.swa_utils.update_bn([], T.nn.Linear(1, 1))
        return [averaged.training, averaged.module[1].momentum, *_held(averaged)]

    mine, theirs = found(gradd), oracle(found)
    assert mine[:2] == theirs[:2]
    for (name, a), (other, b) in zip(mine[2:], theirs[2:], strict=True):
        assert name == other
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)


def test_neither_averages_nor_statistics_wait_for_a_value(session: Any) -> None:
    model, averaged = _trained(gradd, WAYS["EMA"])
    before = session.stats()
    for _ in range(3):
        averaged.update_parameters(model)
    swa_utils.update_bn([gradd.tensor(x) for x in BATCHES], averaged)
    assert session.stats()["round_trips"] == before["round_trips"]
    assert averaged.n_averaged.item() == len(BATCHES) + 3
    assert session.stats()["round_trips"] > before["round_trips"]


@pytest.mark.parametrize("way", ["SWA", "EMA", "EMA, one by one"])
def test_a_loop_that_averages_is_planned(session: Any, way: str) -> None:
    model = nn.Linear(3, 4)
    averaged = WAYS[way](gradd, model)
    opt = gradd.optim.NAdam(model.parameters(), lr=0.1)
    x = gradd.tensor(BATCHES[0])
    with session.profile() as profile:
        for _ in range(7):
            opt.zero_grad()
            model(x).pow(2).sum().backward()
            opt.step()
            averaged.update_parameters(model)
    # An average travels with the next step; the last one is sent by itself, when the profile ends.
    assert [batch.how for batch in profile.batches][3:7] == ["planned"] * 4
    assert (len(profile.batches), profile.round_trips) == (8, 1)


def test_a_count_that_was_loaded_is_heeded() -> None:
    model, averaged = _trained(gradd, WAYS["EMA"])
    fresh = WAYS["EMA"](gradd, _model(gradd))
    fresh.load_state_dict(averaged.state_dict())
    copied = copy.deepcopy(averaged)
    for average in (averaged, fresh, copied):
        average.update_parameters(model)
        assert _held(average) == _held(averaged)
    assert fresh.n_averaged.item() == len(BATCHES) + 1
    fresh.n_averaged.zero_()
    fresh.update_parameters(model)
    assert fresh.module[0].weight.tolist() == model[0].weight.tolist()


@pytest.mark.oracle
def test_integers_and_other_dtypes(oracle: Callable[..., Any]) -> None:
    def found(T: Any) -> Any:
        model = T.nn.Module()
        model.a = T.nn.Parameter(T.tensor([1.0, 2.0], dtype=T.float64))
        model.c = T.nn.Parameter(T.tensor([1 + 2j]))
        model.register_buffer("n", T.tensor([7, 8]))
        swa = T.optim.swa_utils.AveragedModel(model, use_buffers=True)
        ema = T.optim.swa_utils.AveragedModel(
            model, multi_avg_fn=T.optim.swa_utils.get_ema_multi_avg_fn(0.5), use_buffers=True
        )
        for _ in range(3):
            for t in (model.a, model.c, model.n):
                t.data.mul_(3)
            swa.update_parameters(model)
            ema.update_parameters(model)
        return [[[z.real, z.imag] for z in m.c.tolist()] + m.a.tolist() + m.n.tolist()
                for m in (swa.module, ema.module)]  # fmt: skip

    for mine, theirs in zip(found(gradd), oracle(found), strict=True):
        assert mine[1:] == pytest.approx(theirs[1:])
        assert mine[0] == pytest.approx(theirs[0])


@pytest.mark.oracle
@pytest.mark.parametrize("options", [
    {"swa_lr": 0.05},
    {"swa_lr": [0.05, 0.3], "anneal_epochs": 4, "anneal_strategy": "linear"},
    {"swa_lr": 0.2, "anneal_epochs": 0},
])  # fmt: skip
def test_the_schedule_follows_torch(oracle: Callable[..., Any], options: dict[str, Any]) -> None:
    def found(T: Any) -> Any:
        groups = [{"params": [T.nn.Parameter(T.ones(1))]}, {"params": [T.nn.Parameter(T.ones(1))], "lr": 0.5}]
        opt = T.optim.SGD(groups, lr=0.1)
        before = T.optim.lr_scheduler.ExponentialLR(opt, 0.9)
        schedule = T.optim.swa_utils.SWALR(opt, **options)
        seen = []
        for i in range(14):
            opt.step()
            (before if i < 3 else schedule).step()
            seen.append([group["lr"] for group in opt.param_groups])
        return [seen, schedule.get_last_lr(), schedule.state_dict()]

    assert found(gradd) == oracle(found)


def test_a_schedule_resumes() -> None:
    def made() -> tuple[Any, Any]:
        opt = gradd.optim.SGD([nn.Parameter(gradd.ones(1))], lr=1.0)
        return opt, swa_utils.SWALR(opt, 0.1, 5, "linear")

    (first, schedule), (second, other) = made(), made()
    for _ in range(3):
        first.step()
        schedule.step()
    second.load_state_dict(first.state_dict())
    other.load_state_dict(schedule.state_dict())
    for opt, plan in ((first, schedule), (second, other)):
        opt.step()
        plan.step()
    assert other.get_last_lr() == schedule.get_last_lr()
    assert isinstance(other, lr_scheduler.LRScheduler)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "wrong",
    [
        lambda T, u, o: u.SWALR(o, [0.1]),
        lambda T, u, o: u.SWALR(o, 0.1, anneal_strategy="x"),
        lambda T, u, o: u.SWALR(o, 0.1, anneal_epochs=-1),
        lambda T, u, o: u.get_ema_avg_fn(1.5),
        lambda T, u, o: u.get_ema_multi_avg_fn(-0.5),
        lambda T, u, o: u.AveragedModel(T.nn.Linear(1, 1), avg_fn=len, multi_avg_fn=len),
    ],
)
def test_misuse_is_told_in_torchs_words(oracle: Callable[..., Any], wrong: Callable[..., Any]) -> None:
    def told(T: Any) -> str:
        opt = T.optim.SGD([{"params": [T.nn.Parameter(T.ones(1))]} for _ in range(2)], lr=0.1)
        with pytest.raises((ValueError, AssertionError)) as caught:
            wrong(T, T.optim.swa_utils, opt)
        return f"{caught.type.__name__}: {caught.value}"

    assert told(gradd) == oracle(told)
