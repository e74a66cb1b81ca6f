"""Steps that a GradScaler skips: the session does so, nobody waits, and all is as if they never were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradd
import pytest

#: of each optimizer, how it is made
OPTIMIZERS: dict[str, Callable[[Any, Any], Any]] = {
    "SGD": lambda o, p: o.SGD(p, 0.1),
    "SGD, momentum": lambda o, p: o.SGD(p, 0.1, momentum=0.9, dampening=0.5, weight_decay=0.1),
    "Adam": lambda o, p: o.Adam(p, 0.1, amsgrad=True),
    "AdamW": lambda o, p: o.AdamW(p, 0.1),
    "RMSprop": lambda o, p: o.RMSprop(p, 0.1, momentum=0.9, centered=True),
    "Adagrad": lambda o, p: o.Adagrad(p, 0.1),
    "Adadelta": lambda o, p: o.Adadelta(p, 0.1),
    "NAdam": lambda o, p: o.NAdam(p, 0.1),
    "RAdam": lambda o, p: o.RAdam(p, 0.1),
    "Adamax": lambda o, p: o.Adamax(p, 0.1),
    "Rprop": lambda o, p: o.Rprop(p, 0.1),
    "ASGD": lambda o, p: o.ASGD(p, 0.1),
    "Adafactor": lambda o, p: o.Adafactor(p, 0.1),
}
INF = float("inf")
#: what the losses are multiplied by: their gradients are not finite in three iterations, the first one too
FACTORS = [INF, 1.0, 2.0, INF, 1.0, 3.0, float("nan"), 2.0]


def _model(T: Any, name: str) -> tuple[list[Any], Any]:
    params = [T.nn.Parameter(T.tensor([1.0, -2.0, 0.5])), T.nn.Parameter(T.tensor([[0.25], [3.0]]))]
    return params, OPTIMIZERS[name](T.optim, params)


def _backward(scaler: Any, params: list[Any], factor: float) -> None:
    # a loss whose gradients have the factor in them, to the bit
    loss = (params[0] * params[0]).sum() * factor + (params[1] * 3).sum()
    scaler.scale(loss).backward()


def _run(T: Any, name: str, factors: list[float]) -> tuple[list[Any], Any, list[float], list[int]]:
    params, optimizer = _model(T, name)
    scaler = T.amp.GradScaler("cpu", init_scale=64.0, growth_interval=2)
    scales, streaks = [], []
    for factor in factors:
        optimizer.zero_grad()
        _backward(scaler, params, factor)
        assert scaler.step(optimizer) is None
        scaler.update()
        scales.append(scaler.get_scale())
        streaks.append(scaler._get_growth_tracker())
    return params, optimizer, scales, streaks


def _state(params: list[Any], optimizer: Any) -> list[Any]:
    def plain(value: Any) -> Any:
        return value.detach().tolist() if hasattr(value, "detach") else value

    held = [{key: plain(value) for key, value in optimizer.state[p].items()} for p in params]
    return [[p.tolist() for p in params], held]


@pytest.mark.parametrize("name", list(OPTIMIZERS))
def test_a_skipped_step_leaves_everything_as_it_was(T: Any, name: str) -> None:
    params, optimizer, scales, streaks = _run(T, name, FACTORS)
    finite = [f for f in FACTORS if f in (1.0, 2.0, 3.0)]
    assert _state(params, optimizer) == _state(*_run(T, name, finite)[:2])
    assert scales == [32.0, 32.0, 64.0, 32.0, 32.0, 64.0, 32.0, 32.0]
    assert streaks == [0, 1, 0, 0, 1, 0, 0, 1]


def test_scales_that_are_no_powers_of_two_follow(T: Any) -> None:
    params, optimizer = _model(T, "SGD")
    scaler = T.amp.GradScaler(
        "cpu", init_scale=3.3e38, growth_factor=1.3, backoff_factor=0.3, growth_interval=1
    )
    found = []
    for factor in (INF, 1e-38, 1e-38, 1e-38, 1e-38, 1e-38, INF):
        optimizer.zero_grad()
        _backward(scaler, params, factor)
        params[1].grad = None
        scaler.step(optimizer)
        scaler.update()
        found.append(scaler.get_scale())
    # the last growth would be to more than a float32
    assert found == [
        9.900000302096328e37, 1.2870000189901131e38, 1.673100024687147e38, 2.175030032093291e38,
        2.8275390822860977e38, 2.8275390822860977e38, 8.482617348270341e37,
    ]  # fmt: skip


@pytest.mark.parametrize("name", [n for n in OPTIMIZERS if n != "Adafactor"])
def test_a_loop_waits_for_nothing(name: str) -> None:
    with gradd.connect("local:") as session:
        params, optimizer = _model(gradd, name)
        scaler = gradd.amp.GradScaler("cpu", init_scale=64.0)
        factors = [gradd.tensor(f) for f in (1.0, 1.0, 1.0, 1.0, INF, 1.0, INF, 2.0)]
        session.flush()

        def step(factor: Any) -> None:
            optimizer.zero_grad()
            _backward(scaler, params, factor)
            scaler.step(optimizer)
            scaler.update()

        for factor in factors[:3]:  # the first one makes the optimizer's state
            step(factor)
        session.flush()
        with session.profile() as profile:
            for factor in factors[3:]:
                step(factor)
        assert profile.round_trips == 1  # its own end
        # the first one begins without the previous update, which the flush sent
        assert [batch.how for batch in profile.batches] == ["eager", *["planned"] * 5]
        assert scaler.get_scale() == 16.0
        counts = [s["step"].item() for s in optimizer.state.values() if "step" in s]
        assert counts == [6.0] * len(counts)


def test_a_loop_with_clipped_gradients_waits_for_nothing() -> None:
    with gradd.connect("local:") as session:
        params, optimizer = _model(gradd, "SGD")
        scaler = gradd.amp.GradScaler("cpu", init_scale=64.0)
        session.flush()
        before = session.stats()["round_trips"]
        for factor in (1.0, INF, 1.0):
            optimizer.zero_grad()
            _backward(scaler, params, factor)
            scaler.unscale_(optimizer)
            gradd.nn.utils.clip_grad_norm_(params, 1.0)
            scaler.step(optimizer)
            scaler.update()
        assert session.stats()["round_trips"] == before
        assert scaler.get_scale() == 32.0
        assert params[0].isfinite().all()


@pytest.mark.parametrize("way", ["hook", "subclass", "own", "patched"])
def test_a_step_that_does_more_is_not_begun(T: Any, way: str) -> None:
    told: list[str] = []

    class Own(T.optim.SGD):  # type: ignore[misc]
        def step(self, closure: Any = None) -> Any:
            told.append("step")
            return super().step(closure)

    class Simple(T.optim.Optimizer):  # type: ignore[misc]
        def __init__(self, params: Any) -> None:
            super().__init__(params, {})

        def step(self, closure: Any = None) -> Any:
            told.append("step")

    params, optimizer = _model(T, "SGD")
    if way == "hook":
        optimizer.register_step_post_hook(lambda *_: told.append("step"))
    elif way == "patched":
        plain = optimizer.step
        optimizer.step = lambda: (told.append("step"), plain())[1]
    else:
        optimizer = Own(params, lr=0.1) if way == "subclass" else Simple(params)
    scaler = T.amp.GradScaler("cpu", init_scale=64.0)
    for factor in (INF, 1.0, INF):
        optimizer.zero_grad()
        _backward(scaler, params, factor)
        scaler.step(optimizer)
        scaler.update()
    assert told == ["step"]
