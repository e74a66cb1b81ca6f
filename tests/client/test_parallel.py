"""Training over several sessions of one script: random loops, and those of the documentation, are as in one.

`GRADD_REPLICAS` says how many random loops are trained in several sessions and in one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import gradd
import gradd as torch
import numpy as np
import pytest
from gradd import nn, optim, parallel
from gradd._transports.local import LocalTransport
from gradd.parallel import _reducing

from tests.client.replicas import connected, current, differences

LOOPS = int(os.environ.get("GRADD_REPLICAS", "24"))
#: loops in which a planted fault has to be found
PLANTED = 12


@pytest.fixture(scope="module")
def many() -> Iterator[list[Any]]:
    """Sessions in this process."""
    made = connected(5)
    yield made
    for session in made:
        session.close()


@pytest.mark.parametrize("seed", range(LOOPS))
def test_a_random_loop_trains_as_in_one_session(many: list[Any], seed: int) -> None:
    assert differences(seed, many[:4], many[4]) == ""


def found(many: list[Any], seeds: int = PLANTED) -> bool:
    """Whether the first loops show a difference."""
    try:
        return any(differences(seed, many[:4], many[4]) for seed in range(seeds))
    except gradd.GraddError as refused:  # buckets of several sizes that go the wrong way
        return "upload" in str(refused)


def _left_out(real: Any, transport: Any, mean: bool, members: list[Any]) -> None:
    *most, last = members
    givers = [each for each in members if each.tensors]
    real(transport, mean, [*most, last._replace(tensors=[])] if len(givers) > 1 else members)


def _other_op(real: Any, transport: Any, mean: bool, members: list[Any]) -> None:
    real(transport, not mean, members)


def _turned(real: Any, transport: Any, mean: bool, members: list[Any]) -> None:
    real(transport, mean, [each._replace(tensors=each.tensors[::-1]) for each in members])


@pytest.mark.parametrize("fault", [_left_out, _other_op, _turned], ids=lambda f: f.__name__.strip("_"))
def test_a_wrong_sum_is_found(many: list[Any], monkeypatch: pytest.MonkeyPatch, fault: Any) -> None:
    real = LocalTransport.reduce
    monkeypatch.setattr(
        LocalTransport, "reduce", lambda self, mean, members: fault(real, self, mean, members)
    )
    assert found(many)


def test_a_stale_tensor_is_found(many: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    real, kept = _reducing.gather, {}

    def stale(tensors: Any, buckets: Any) -> Any:
        key = tensors[0]._session, tuple(t.shape for t in tensors)
        made = real(tensors, buckets)
        old, kept[key] = kept.get(key, made), made
        return old

    monkeypatch.setattr(_reducing, "gather", stale)
    assert found(many)


def test_a_write_that_is_forgotten_is_found(many: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    real = _reducing.scatter

    def one_less(session: Any, tensors: Any, *more: Any) -> None:
        if session is not many[1]:
            real(session, tensors, *more)
        else:
            real(session, [t.clone() for t in tensors], *more)

    monkeypatch.setattr(_reducing, "scatter", one_less)
    assert found(many)


def test_noise_that_sessions_share_is_not(many: list[Any]) -> None:
    """Without a fault the same loops show nothing."""
    assert not found(many)


# -- training ----------------------------------------------------------------------------------------


class Shared(nn.Module):
    """One layer, used twice, and an output that is tied to the input."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(16, 16), nn.Linear(16, 6, bias=False)
        self.back = nn.Linear(6, 16)

    def forward(self, x: Any) -> Any:
        h = torch.tanh(self.inner(torch.tanh(self.inner(self.back(x)))))
        return h @ self.outer.weight.T + h @ self.back.weight


def perceptron() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 6))


KINDS = {
    "sgd": lambda parameters: optim.SGD(parameters, lr=0.1, momentum=0.9),
    "adam": lambda parameters: optim.Adam(parameters, lr=0.01),
}


@pytest.mark.parametrize("make", [perceptron, Shared], ids=["mlp", "shared"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parts", [(4, 4), (4, 4, 4), (7, 3), (1, 6, 5)], ids=str)
def test_float32_is_equal_to_one_session_to_1e_6(
    many: list[Any], make: Any, kind: str, parts: tuple[int, ...]
) -> None:
    """Parts of one size by mean; others are weighted and added."""
    group, alone, total = many[: len(parts)], many[4], sum(parts)
    chance = np.random.default_rng(3)
    batches = chance.normal(size=(2, 20, total, 6)).astype(np.float32)
    even = len(set(parts)) == 1

    def built(session: Any) -> Any:
        torch.manual_seed(11)
        model = make()
        return model, KINDS[kind](model.parameters())

    def learn(session: Any, model: Any, x: Any, y: Any) -> None:
        loss = nn.functional.mse_loss(model(torch.tensor(x)), torch.tensor(y))
        (loss if even else loss * (len(x) / total)).backward()

    def step(session: Any, of: Any) -> None:
        of.step()
        of.zero_grad()

    made = parallel.map(group, built)
    models, optimizers = [m for m, _ in made], [o for _, o in made]
    ((single, its),) = parallel.map([alone], built)
    edges = np.cumsum(parts)[:-1]
    for x, y in zip(*batches, strict=True):
        parallel.map(group, learn, models, np.split(x, edges), np.split(y, edges))
        parallel.all_reduce([[p.grad for p in m.parameters()] for m in models], "mean" if even else "sum")
        parallel.map(group, step, optimizers)
        nn.functional.mse_loss(single(on(alone, x)), on(alone, y)).backward()
        step(alone, its)
    for model in models:
        for p, q in zip(model.parameters(), single.parameters(), strict=True):
            np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol=0, atol=1e-6)


def on(session: Any, array: Any) -> Any:
    """A tensor of that session."""
    with current(session):
        return torch.tensor(array)


def test_a_step_is_three_batches_that_run_as_plans(many: list[Any]) -> None:
    sessions = many[:3]

    def built(session: Any) -> Any:
        torch.manual_seed(0)
        model = perceptron()
        return model, optim.Adam(model.parameters())

    made = parallel.map(sessions, built)
    models, optimizers = [m for m, _ in made], [o for _, o in made]

    def learn(session: Any, model: Any, of: Any, at: int) -> None:
        of.zero_grad()
        model(torch.full((4, 6), float(at))).square().mean().backward()

    def train(count: int) -> list[int]:
        before = [session.stats()["batches"] for session in sessions]
        for _ in range(count):
            parallel.map(sessions, learn, models, optimizers, range(3))
            parallel.all_reduce([[p.grad for p in m.parameters()] for m in models])
            parallel.map(sessions, lambda s, of: of.step(), optimizers)
        return [s.stats()["batches"] - n for s, n in zip(sessions, before, strict=True)]

    train(6)
    with sessions[0].profile() as profile:
        assert train(10) == [30, 30, 30]
        sessions[0].flush()
    assert profile.planned == 30
    trail = sessions[0].recorder().trail
    before = trail.answered
    train(10)
    assert trail.answered - before >= 40  # a step may be recorded anew, as after a collection of garbage
