"""Schedules made of others, cyclic ones, the one that goes by a metric: torch's rates, states and checks."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import pytest
from gradd import nn, optim
from gradd.optim import lr_scheduler


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


def _sequence(s: Any, o: Any) -> Any:
    return s.SequentialLR(o, [s.LinearLR(o, 0.1), s.PolynomialLR(o, 4), s.StepLR(o, 2)], milestones=[3, 8])


MAKERS: dict[str, Callable[[Any, Any], Any]] = {
    "ConstantLR": lambda s, o: s.ConstantLR(o, factor=0.5, total_iters=3),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o, total_iters=6, power=2.0),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, [lambda e: 0.95, lambda e: 1.0 / e]),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, T_mult=2, eta_min=0.01),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.1, 1.0, step_size_up=3),
    "CyclicLR, triangular2": lambda s, o: s.CyclicLR(o, [0.1, 0.2], [1.0, 2.0], 2, 3, mode="triangular2"),
    "CyclicLR, exp_range": lambda s, o: s.CyclicLR(
        o, 0.1, 1.0, 3, 1, mode="exp_range", gamma=0.9, base_momentum=0.7, max_momentum=0.95
    ),
    "CyclicLR, no momentum": lambda s, o: s.CyclicLR(
        o, 0.1, 1.0, 4, scale_fn=lambda n: 0.5**n, scale_mode="iterations", cycle_momentum=False
    ),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, max_lr=1.0, total_steps=13),
    "OneCycleLR, options": lambda s, o: s.OneCycleLR(
        o, [1.0, 2.0], epochs=7, steps_per_epoch=2, three_phase=True, anneal_strategy="linear"
    ),
    "OneCycleLR, no momentum": lambda s, o: s.OneCycleLR(o, 1.0, 20, cycle_momentum=False, pct_start=0.1),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.9)]),
    "SequentialLR": _sequence,
}


def _optimizer(T: Any, kind: str = "SGD") -> Any:
    groups = [{"params": [T.nn.Parameter(T.ones(1))]}, {"params": [T.nn.Parameter(T.ones(2))], "lr": 0.5}]
    options = {"momentum": 0.9} if kind == "SGD" else {}
    return getattr(T.optim, kind)(groups, lr=0.1, **options)


def _plain(state: Any) -> Any:
    """A state without functions, and containers as what they hold."""
    if isinstance(state, dict):
        return {k: _plain(v) for k, v in state.items()}
    return [_plain(v) for v in state] if isinstance(state, (list, tuple)) else state


def _run(T: Any, name: str, kind: str) -> list[Any]:
    opt = _optimizer(T, kind)
    schedule = MAKERS[name](T.optim.lr_scheduler, opt)
    seen = []
    for _ in range(13):
        opt.step()
        schedule.step()
        moving = [group["momentum" if kind == "SGD" else "betas"] for group in opt.param_groups]
        seen.append((schedule.get_last_lr(), moving, _plain(schedule.state_dict())))
    return seen


@pytest.mark.oracle
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("name", MAKERS)
def test_follows_torch(torch: Any, name: str, kind: str) -> None:
    assert _run(gradd, name, kind) == _run(torch, name, kind)


def _rates_of_ones_own(T: Any) -> list[list[float]]:
    class Warmup(T.optim.lr_scheduler._LRScheduler):  # type: ignore[misc, name-defined]
        def get_lr(self) -> list[float]:
            if not self._get_lr_called_within_step:
                raise RuntimeError("outside")
            part = min(1.0, (self.last_epoch + 1) / 4)
            return [base * part / self._step_count**0.5 for base in self.base_lrs]

    opt = _optimizer(T)
    schedules = [Warmup(opt), T.optim.lr_scheduler.StepLR(opt, 2)]
    schedule = T.optim.lr_scheduler.SequentialLR(opt, schedules, milestones=[3])
    seen = []
    for _ in range(6):
        opt.step()
        schedule.step()
        seen.append(schedule.get_last_lr())
    return seen


@pytest.mark.oracle
def test_a_schedule_of_ones_own(oracle: Callable[..., Any]) -> None:
    assert _rates_of_ones_own(gradd) == oracle(_rates_of_ones_own)


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:The epoch parameter")
@pytest.mark.parametrize(
    "make",
    [
        lambda s, o: s.StepLR(o, 2),
        lambda s, o: s.MultiStepLR(o, [2, 3]),
        lambda s, o: s.ExponentialLR(o, 0.9),
        lambda s, o: s.CosineAnnealingLR(o, 5),
        lambda s, o: s.LinearLR(o),
        lambda s, o: s.ConstantLR(o),
        lambda s, o: s.PolynomialLR(o),
        lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, 3),
        lambda s, o: s.LambdaLR(o, lambda e: 1 / (1 + e)),
    ],
)
def test_an_epoch_of_ones_own(torch: Any, make: Callable[[Any, Any], Any]) -> None:
    found = []
    for T in (gradd, torch):
        opt = _optimizer(T)
        schedule = make(T.optim.lr_scheduler, opt)
        opt.step()
        rates = []
        for epoch in (1, 4, 7, 2):
            schedule.step(epoch)
            rates.append(schedule.get_last_lr())
        found.append(rates)
    for mine, theirs in zip(*found, strict=True):
        assert mine == pytest.approx(theirs)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "options",
    [
        {"factor": 0.5, "patience": 1, "threshold": 1e-2, "min_lr": 0.05},
        {"mode": "max", "patience": 0, "threshold_mode": "abs", "cooldown": 2, "min_lr": [0.01, 0.1]},
        {"mode": "max", "patience": 1},
        {"threshold_mode": "abs", "patience": 0},
    ],
    ids=str,
)
def test_a_plateau_reduces_the_rates(torch: Any, options: dict[str, Any]) -> None:
    found = []
    for T in (gradd, torch):
        opt = _optimizer(T)
        schedule = T.optim.lr_scheduler.ReduceLROnPlateau(opt, **options)
        for metric in (1.0, 0.9, 0.9, T.tensor(0.9), 0.895, 0.5, 0.5, 0.5, 0.51, 0.6, 0.6):
            schedule.step(metric)
            found.append((T, schedule.get_last_lr(), schedule.num_bad_epochs, schedule.best))
        found.append((T, schedule.state_dict(), None, None))
    mine = [f[1:] for f in found if f[0] is gradd]
    assert mine == [f[1:] for f in found if f[0] is torch]


def test_states_go_on_where_they_were() -> None:
    for name in ("SequentialLR", "OneCycleLR", "CyclicLR, exp_range", "ChainedScheduler"):
        first = _optimizer(gradd)
        schedule = MAKERS[name](lr_scheduler, first)
        for _ in range(4):
            first.step()
            schedule.step()
        file = io.BytesIO()
        gradd.save([first.state_dict(), schedule.state_dict()], file)
        file.seek(0)
        second = _optimizer(gradd)
        other = MAKERS[name](lr_scheduler, second)
        optimizer_state, state = gradd.load(file)
        second.load_state_dict(optimizer_state)
        other.load_state_dict(state)
        for opt, plan in ((first, schedule), (second, other)):
            opt.step()
            plan.step()
        assert other.get_last_lr() == schedule.get_last_lr()


WRONG: list[tuple[Callable[[Any, Any], Any], type[Exception]]] = [
    (lambda s, o: s.ConstantLR(o, 2.0), ValueError),
    (lambda s, o: s.CosineAnnealingWarmRestarts(o, 0), ValueError),
    (lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, 0), ValueError),
    (lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, eta_min="a"), ValueError),
    (lambda s, o: s.CosineAnnealingWarmRestarts(o, 2).step(-1), ValueError),
    (lambda s, o: s.OneCycleLR(o, 1.0), ValueError),
    (lambda s, o: s.OneCycleLR(o, 1.0, 0), ValueError),
    (lambda s, o: s.OneCycleLR(o, 1.0, 5, pct_start=2.0), ValueError),
    (lambda s, o: s.OneCycleLR(o, 1.0, 5, anneal_strategy="x"), ValueError),
    (lambda s, o: s.OneCycleLR(o, [1.0], 5), ValueError),
    (lambda s, o: s.OneCycleLR(3, 1.0, 5), TypeError),
    (lambda s, o: s.CyclicLR(o, 0.1, 1.0, mode="x"), ValueError),
    (lambda s, o: s.CyclicLR(o, [0.1], 1.0), ValueError),
    (lambda s, o: s.CyclicLR(o, 0.1, [1.0, 2.0, 3.0]), ValueError),
    (lambda s, o: s.CyclicLR(3, 0.1, 1.0), TypeError),
    (lambda s, o: s.ReduceLROnPlateau(o, factor=1.0), ValueError),
    (lambda s, o: s.ReduceLROnPlateau(o, mode="x"), ValueError),
    (lambda s, o: s.ReduceLROnPlateau(o, threshold_mode="x"), ValueError),
    (lambda s, o: s.ReduceLROnPlateau(o, min_lr=[1.0]), ValueError),
    (lambda s, o: s.ReduceLROnPlateau(3), TypeError),
    (lambda s, o: s.ChainedScheduler([]), ValueError),
    (lambda s, o: s.ChainedScheduler([s.ReduceLROnPlateau(o)]), ValueError),
    (lambda s, o: s.SequentialLR(o, [], []), ValueError),
    (lambda s, o: s.SequentialLR(o, [3], []), TypeError),
    (lambda s, o: s.SequentialLR(o, [s.StepLR(o, 1)], [1]), ValueError),
]


@pytest.mark.oracle
@pytest.mark.parametrize(("make", "kind"), WRONG)
def test_misuse_is_told_in_torchs_words(
    torch: Any, make: Callable[[Any, Any], Any], kind: type[Exception]
) -> None:
    messages = []
    for T in (gradd, torch):
        with pytest.raises(kind) as caught:
            make(T.optim.lr_scheduler, _optimizer(T))
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_past_the_last_step_and_groups_added_later() -> None:
    opt = optim.SGD([nn.Parameter(gradd.ones(1))], lr=1.0, momentum=0.5)
    schedule = lr_scheduler.OneCycleLR(opt, 1.0, 2)
    opt.step()
    schedule.step()
    schedule.step()
    with pytest.raises(ValueError, match="Tried to step 3 times"):
        schedule.step()
    plateau = lr_scheduler.ReduceLROnPlateau(opt, patience=0, min_lr=[0.1])
    opt.add_param_group({"params": [nn.Parameter(gradd.ones(1))]})
    plateau.step(1.0)
    with pytest.raises(RuntimeError, match=r"in the `optimizer` \(2\) differs from when"):
        plateau.step(2.0)


def test_cycles_want_momentum_to_move_and_save_a_scale_that_is_an_object() -> None:
    class Scale:
        def __init__(self, base: float) -> None:
            self.base = base

        def __call__(self, n: float) -> float:
            return self.base**n

    opt = optim.Adagrad([nn.Parameter(gradd.ones(1))], lr=0.1)
    with pytest.raises(ValueError, match="optimizer must support momentum or beta1"):
        lr_scheduler.CyclicLR(opt, 0.1, 1.0)
    first, second = (
        lr_scheduler.CyclicLR(opt, 0.0, 1.0, 2, scale_fn=Scale(base), cycle_momentum=False)
        for base in (0.5, 0.9)
    )
    state = first.state_dict()
    assert state["_scale_fn_custom"] == {"base": 0.5}
    second.load_state_dict(state)
    assert second.scale_fn(3) == 0.125


def test_get_lr_of_ones_own_warns() -> None:
    schedule = lr_scheduler.StepLR(_optimizer(gradd), 1)
    with pytest.warns(UserWarning, match="To get the last learning rate computed by the scheduler"):
        schedule.get_lr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schedule.get_last_lr()


def test_a_schedule_that_comes_across_a_default_keeps_its_program(session: Any) -> None:
    weight = gradd.nn.Parameter(gradd.ones(3))
    optimizer = gradd.optim.Adam([weight], lr=0.1)
    schedule = gradd.optim.lr_scheduler.CyclicLR(optimizer, 0.01, 0.1, step_size_up=2)
    betas = []

    def step() -> None:
        optimizer.zero_grad()
        (weight * weight).sum().backward()
        optimizer.step()
        schedule.step()
        betas.append(optimizer.param_groups[0]["betas"][0])

    for _ in range(3):
        step()
    session.flush()
    with session.profile() as profile:
        for _ in range(8):
            step()
    assert len(set(betas)) == 3
    assert 0.9 in betas[3:]
    assert profile.new_programs == 0
    assert {batch.how for batch in profile.batches} == {"planned"}
