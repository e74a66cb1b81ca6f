"""LBFGS: torch's trajectories, evaluation for evaluation, and what it refuses."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import gradd
import numpy as np
import pytest

START = [-1.2, 1.0, 0.5]


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


def run(T: Any, steps: int, dtype: str = "float64", **options: Any) -> tuple[list[Any], Any, Any]:
    """Losses and counts of each step on a curved valley, with a parameter that has no gradient beside it."""
    x = T.tensor(START, dtype=getattr(T, dtype), requires_grad=True)
    idle = T.zeros(2, dtype=x.dtype, requires_grad=True)
    opt = T.optim.LBFGS([x, idle], **options)

    def closure() -> Any:
        opt.zero_grad()
        loss = (1 - x[0]) ** 2 + 20 * (x[1] - x[0] ** 2) ** 2 + (x[2] - x[1]).exp()
        loss.backward()
        return loss

    told = []
    for _ in range(steps):
        loss = opt.step(closure)
        told.append([loss.item(), opt.state[x]["func_evals"], opt.state[x]["n_iter"]])
    return told, x, opt


@pytest.mark.oracle
@pytest.mark.parametrize(
    "options",
    [
        {"lr": 0.02, "max_iter": 6},
        {"lr": 0.05, "max_iter": 4, "history_size": 2},
        {"line_search_fn": "strong_wolfe", "max_iter": 5},
        {"line_search_fn": "strong_wolfe", "max_iter": 8, "max_eval": 9, "history_size": 3},
        {"line_search_fn": "strong_wolfe", "tolerance_grad": 1.0},
        {"lr": 0.02, "tolerance_change": 1e-2},
    ],
)
def test_trajectories_are_the_oracles(torch: Any, options: dict[str, Any]) -> None:
    (mine, x, ours), (theirs, y, other) = run(gradd, 4, **options), run(torch, 4, **options)
    np.testing.assert_allclose(np.array(mine), np.array(theirs), rtol=1e-6)
    np.testing.assert_allclose(x.detach().numpy(), y.detach().numpy(), rtol=1e-6)
    assert str(ours) == str(other)
    assert ours.state_dict()["param_groups"] == other.state_dict()["param_groups"]
    assert sorted(ours.state[x]) == sorted(other.state[y])


@pytest.mark.oracle
@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_complex_parameters_are_pairs_of_numbers(torch: Any, search: str | None) -> None:

    def found(T: Any) -> list[complex]:
        z = T.tensor([1 + 2j, 3 - 1j], dtype=T.complex128, requires_grad=True)
        opt = T.optim.LBFGS([z], lr=0.1, max_iter=5, line_search_fn=search)

        def closure() -> Any:
            opt.zero_grad()
            loss = ((z - (2 - 1j)).abs() ** 4).sum()
            loss.backward()
            return loss

        opt.step(closure)
        return z.tolist()  # type: ignore[no-any-return]

    np.testing.assert_allclose(np.array(found(gradd)), np.array(found(torch)), rtol=1e-7)


def test_a_state_dict_resumes() -> None:
    def halves(cut: bool) -> Any:
        x = gradd.tensor(START, dtype=gradd.float64, requires_grad=True)

        def step(opt: Any) -> None:
            def closure() -> Any:
                opt.zero_grad()
                loss = ((x - 1) ** 4).sum() + x.prod()
                loss.backward()
                return loss

            opt.step(closure)

        opt = gradd.optim.LBFGS([x], lr=0.05, max_iter=3)
        step(opt)
        if cut:
            held = opt.state_dict()
            opt = gradd.optim.LBFGS([x])
            opt.load_state_dict(held)
        step(opt)
        return x.tolist()

    assert halves(cut=True) == halves(cut=False)


def test_at_a_minimum_it_stays_and_a_number_is_a_loss() -> None:
    x = gradd.zeros(2, requires_grad=True)
    opt = gradd.optim.LBFGS([x])

    def closure() -> float:
        opt.zero_grad()
        loss = (x**2).sum()
        loss.backward()
        return float(loss.item())

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert opt.step(closure) == 0.0
    assert opt.state[x]["func_evals"] == 1
    assert x.tolist() == [0.0, 0.0]


def test_misuse() -> None:
    x, y = gradd.ones(2, requires_grad=True), gradd.ones(2, requires_grad=True)
    with pytest.raises(ValueError, match="Invalid learning rate: -1"):
        gradd.optim.LBFGS([x], lr=-1)
    with pytest.raises(ValueError, match="doesn't support per-parameter options"):
        gradd.optim.LBFGS([{"params": [x]}, {"params": [y]}])
    opt = gradd.optim.LBFGS([x], line_search_fn="armijo")

    def closure() -> Any:
        opt.zero_grad()
        loss = (x**2).sum()
        loss.backward()
        return loss

    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        opt.step(closure)
