"""Divergences of all registered pairs, with their gradients, as torch.distributions has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gradd
import pytest

from tests.client.distributions.families import FAMILIES, alike, asked, gradients, leaves

#: two of a family, of the same batch shape as others: the parameters of each, numbers of double precision
PAIRS: dict[str, tuple[Any, Any]] = {
    "Bernoulli": (([0.1, 0.6],), ([0.3, 0.2],)),
    "Beta": (([0.5, 3.0], [2.0, 2.5]), ([1.5, 1.0], [0.5, 3.0])),
    "Binomial": (([0.1, 0.6],), ([0.3, 0.2],)),
    "Categorical": (([[0.5, 1.5], [1.0, 0.0]],), ([[1.5, 0.5], [1.0, 3.0]],)),
    "Cauchy": (([0.5, -1.0], [1.0, 2.5]), ([0.0, 1.0], [2.0, 0.5])),
    "Chi2": (([0.5, 3.0],), ([1.5, 2.0],)),
    "ContinuousBernoulli": (([0.1, 0.6],), ([0.3, 0.2],)),
    "Dirichlet": (([[0.5, 3.0], [1.0, 1.0]],), ([[1.5, 3.0], [2.0, 1.0]],)),
    "Exponential": (([0.5, 2.0],), ([1.5, 1.0],)),
    "Gamma": (([0.5, 3.0], [1.0, 2.5]), ([1.5, 2.0], [0.5, 3.0])),
    "Geometric": (([0.1, 0.6],), ([0.3, 0.2],)),
    "Gumbel": (([0.5, -1.0], [1.0, 2.5]), ([0.0, 1.0], [2.0, 0.5])),
    "HalfNormal": (([0.5, 2.0],), ([1.5, 1.0],)),
    "Independent": (([[0.5, -1.0]], [[1.0, 2.5]]), ([[0.0, 1.0]], [[2.0, 0.5]])),
    "Laplace": (([0.5, -1.0], [1.0, 2.5]), ([0.0, 1.0], [2.0, 0.5])),
    "LogNormal": (([0.5, -1.0], [1.0, 2.5]), ([0.0, 1.0], [2.0, 0.5])),
    "LowRankMultivariateNormal": (
        ([0.5, -1.0], [[1.0], [2.0]], [0.5, 0.3]),
        ([0.0, 1.0], [[0.5], [-1.0]], [1.0, 2.0]),
    ),
    "MultivariateNormal": (
        ([0.5, -1.0], [[2.0, 0.5], [0.5, 1.0]]),
        ([[0.0, 1.0], [2.0, 0.0]], [[1.0, -0.5], [-0.5, 2.0]]),
    ),
    "Normal": (([0.5, -1.0], [1.0, 2.5]), ([0.0, 1.0], [2.0, 0.5])),
    "OneHotCategorical": (([[0.5, 1.5], [1.0, 0.0]],), ([[1.5, 0.5], [1.0, 3.0]],)),
    "Pareto": (([0.5, 1.0], [1.0, 2.5]), ([0.3, 2.0], [2.0, 3.5])),
    "Poisson": (([0.5, 30.0],), ([1.5, 20.0],)),
    "Uniform": (([0.1, 0.2], [0.5, 0.9]), ([-1.0, 0.0], [2.0, 0.5])),
    "Wishart": (([4.0, 3.5], [[2.0, 0.5], [0.5, 1.0]]), ([5.0, 3.0], [[2.0, -0.5], [-0.5, 1.0]])),
}


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


def _made(T: Any, name: str, parameters: Any) -> tuple[Any, list[Any]]:
    params = [T.tensor(p, dtype=T.float64, requires_grad=True) for p in parameters]
    return FAMILIES[name].make(T, *params), params


def _divergences(T: Any, name: str) -> dict[str, Any]:
    """From a family to every other, and to itself with its gradients."""
    p, ours = _made(T, name, PAIRS[name][0])
    found = {}
    for other in PAIRS:
        q, theirs = _made(T, other, PAIRS[other][1])
        found[other] = asked(lambda: T.distributions.kl_divergence(p, q))  # noqa: B023
        if isinstance(found[other], float) or isinstance(found[other][0], float):
            total = T.distributions.kl_divergence(p, q)
            if total.requires_grad:
                found[f"{other}'s gradients"] = asked(lambda: gradients(T, total, [*ours, *theirs]))  # noqa: B023
    return found


@pytest.mark.oracle
@pytest.mark.parametrize("name", PAIRS)
def test_divergences_are_torchs(oracle: Callable[..., Any], name: str) -> None:
    mine, theirs = _divergences(gradd, name), oracle(lambda T: _divergences(T, name))
    assert mine.keys() == theirs.keys()
    assert not {q: (mine[q], theirs[q]) for q in mine if not alike(mine[q], theirs[q], 1e-6)}


@pytest.mark.oracle
def test_every_pair_is_registered(oracle: Callable[..., Any]) -> None:
    def pairs(T: Any) -> list[str]:
        return sorted(f"{p.__name__} {q.__name__}" for p, q in (T.distributions.kl._KL_REGISTRY))

    assert sorted(f"{p.__name__} {q.__name__}" for p, q in gradd.distributions.kl._KL_REGISTRY) == oracle(
        pairs
    )


@pytest.mark.oracle
def test_a_divergence_of_ones_own(oracle: Callable[..., Any]) -> None:
    def found(T: Any) -> Any:
        D = T.distributions
        registered = dict(D.kl._KL_REGISTRY)

        class Own(D.Normal):  # type: ignore[misc, name-defined]
            pass

        class Other(D.Normal):  # type: ignore[misc, name-defined]
            pass

        p, q = Own(0.0, 1.0), Other(1.0, 1.0)
        said = [D.kl_divergence(p, q).item()]
        try:
            D.register_kl(Own, D.Normal)(lambda p, q: "first")
            said.append(D.kl_divergence(p, q))
            D.register_kl(D.Normal, Other)(lambda p, q: "second")
            said.append(asked(lambda: D.kl_divergence(p, q)))
            D.register_kl(Own, Other)(lambda p, q: "both")
            said.append(D.kl_divergence(p, q))
        finally:
            D.kl._KL_REGISTRY.clear()
            D.kl._KL_REGISTRY.update(registered)
            D.kl._KL_MEMOIZE.clear()
        return said

    assert found(gradd) == oracle(found)


def test_a_divergence_waits_for_nothing(session: Any) -> None:
    before = session.stats()["round_trips"]
    for name in PAIRS:
        gradd.distributions.kl_divergence(
            _made(gradd, name, PAIRS[name][0])[0], _made(gradd, name, PAIRS[name][1])[0]
        )
    assert session.stats()["round_trips"] == before
    assert leaves(gradd, FAMILIES["Normal"])[0].tolist() == [0.5, -1.0]
