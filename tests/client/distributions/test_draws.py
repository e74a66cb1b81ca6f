"""Draws: their moments, their gradients, their seed. Bounds are six standard errors of the mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import numpy as np
import pytest
from gradd import distributions as D

from tests.client.distributions.families import FAMILIES, leaves

COUNT = 4000
#: they have no mean or variance, one of a circle, or one that a few thousand draws do not show
ENDLESS = {
    "LogNormal",
    "Cauchy",
    "HalfCauchy",
    "VonMises",
    "StudentT",
    "Pareto",
    "InverseGamma",
    "GeneralizedPareto",
}
MOMENTS = [
    name
    for name in FAMILIES
    if name.partition(",")[0].partition(" of")[0] not in ENDLESS | {"TransformedDistribution"}
    and "Relaxed" not in name
    and not name.startswith(("LogisticNormal", "Categorical", "LKJCholesky"))
]
#: families whose draws follow a gradient that is not of the normal or uniform draw behind them
IMPLICIT: dict[str, tuple[Callable[..., Any], list[float]]] = {
    "Gamma": (lambda T, a, r: T.distributions.Gamma(a, r), [0.7, 2.0]),
    "a wide Gamma": (lambda T, a, r: T.distributions.Gamma(a, r), [20.0, 2.0]),
    "Beta": (lambda T, a, b: T.distributions.Beta(a, b), [0.7, 2.0]),
    "Chi2": (lambda T, n: T.distributions.Chi2(n), [3.0]),
    "FisherSnedecor": (lambda T, a, b: T.distributions.FisherSnedecor(a, b), [3.0, 20.0]),
    "LogNormal": (lambda T, m, s: T.distributions.LogNormal(m, s), [0.5, 0.3]),
    "Kumaraswamy": (lambda T, a, b: T.distributions.Kumaraswamy(a, b), [1.5, 2.0]),
    "ContinuousBernoulli": (lambda T, p: T.distributions.ContinuousBernoulli(p), [0.3]),
}


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        gradd.manual_seed(11)
        yield s


@pytest.mark.parametrize("name", MOMENTS)
def test_draws_have_the_moments_that_are_said(name: str) -> None:
    d = FAMILIES[name].make(gradd, *leaves(gradd, FAMILIES[name]))
    drawn = d.sample((COUNT,))
    assert not drawn.requires_grad
    assert drawn.shape == (COUNT, *d.batch_shape, *d.event_shape)
    assert d.support.check(drawn).all().item()
    mean, variance = (np.array(t.detach().tolist()) for t in (d.mean, d.variance))
    values = np.array(drawn.tolist())
    known = np.isfinite(mean) & np.isfinite(variance)
    error = np.abs(values.mean(0) - mean)
    assert (error[known] <= 6 * np.sqrt(variance[known] / COUNT) + 1e-6).all()
    fourth = ((values - values.mean(0)) ** 4).mean(0)
    spread = np.abs(values.var(0) - variance)
    assert (spread[known] <= 6 * np.sqrt(fourth[known] / COUNT) + 0.1 * variance[known] + 1e-6).all()


@pytest.mark.parametrize("name", ["Cauchy", "VonMises", "StudentT", "Pareto", "Gumbel", "Weibull"])
def test_draws_have_the_density_that_is_said(name: str) -> None:
    """The share of draws in a region is the integral of the density over it."""
    d = FAMILIES[name].make(gradd, *leaves(gradd, FAMILIES[name]))
    low, high = (0.6, 3.0) if name == "Pareto" else (0.0, 1.5)
    drawn = d.sample((COUNT,))
    share = ((drawn > low) & (drawn < high)).double().mean(0)
    shape = (1001, *(1,) * len(d.batch_shape))
    grid = gradd.linspace(low, high, 1001, dtype=gradd.float64).view(shape)
    inside = D.constraints.greater_than_eq(d.scale).check(grid) if name == "Pareto" else grid == grid
    safe = gradd.maximum(grid, d.scale) if name == "Pareto" else grid.clamp(min=1e-9)
    density = (d.log_prob(safe).exp() * inside).detach()
    wanted = np.trapezoid(np.array(density.tolist()), dx=(high - low) / 1000, axis=0)
    assert np.abs(np.array(share.tolist()) - wanted).max() < 6 * math.sqrt(0.25 / COUNT) + 2e-3


@pytest.mark.parametrize("name", IMPLICIT)
def test_the_mean_gradient_of_draws_is_the_gradient_of_the_mean(name: str) -> None:
    make, given = IMPLICIT[name]
    params = [gradd.tensor(p, dtype=gradd.float64, requires_grad=True) for p in given]
    each = [p.expand(COUNT).contiguous().detach().requires_grad_() for p in params]
    gradd.autograd.backward(make(gradd, *each).rsample().sum())
    wanted = gradd.autograd.grad(make(gradd, *params).mean, params, allow_unused=True)
    for p, g in zip(each, wanted, strict=True):
        assert p.grad is not None
        found = np.array(p.grad.tolist())
        assert abs(found.mean() - (0.0 if g is None else g.item())) < 6 * found.std() / math.sqrt(COUNT)


@pytest.mark.oracle
def test_draws_change_with_their_parameters_as_torchs_do(oracle: Callable[..., Any]) -> None:
    """PyTorch's series are exact to about 1e-3."""
    a = [0.05, 0.5, 0.9, 1.0, 3.0, 12.0, 150.0, 4000.0]
    from gradd_engine.ops.create import implicit

    gammas = [[x * s for x in a] for s in (0.6, 1.0, 1.4)]
    betas = [[0.02, 0.3, 0.5, 0.9, 0.7, 0.2, 0.99, 0.5]] * 3

    def gamma(x: list[float]) -> Any:
        return implicit.standard_gamma_grad(gradd.tensor(a), gradd.tensor(x)).tolist()

    def beta(x: list[float], b: float) -> Any:
        alpha = gradd.tensor(a)
        return implicit.dirichlet_grad(gradd.tensor(x), alpha, alpha + b * alpha.sqrt()).tolist()

    mine = [*map(gamma, gammas), *map(beta, betas, (0.5, 1.0, 3.0))]

    def theirs(T: Any) -> Any:
        alpha = T.tensor(a)
        found = [T._standard_gamma_grad(alpha, T.tensor(x)) for x in gammas]
        found += [
            T._dirichlet_grad(T.tensor(x), alpha, alpha + b * alpha.sqrt())
            for x, b in zip(betas, (0.5, 1.0, 3.0), strict=True)
        ]
        return [f.tolist() for f in found]

    np.testing.assert_allclose(mine, oracle(theirs), rtol=5e-3)


def test_a_seed_gives_the_same_draws(session: Any) -> None:
    def draws() -> list[Any]:
        gradd.manual_seed(5)
        found = [D.Gamma(2.0, 1.0), D.Poisson(30.0), D.Binomial(50, gradd.tensor(0.4)), D.Beta(0.5, 0.5)]
        return [d.sample((4,)).tolist() for d in found]

    first = draws()
    assert first == draws()
    assert len({tuple(f) for f in first}) == 4
    gradd.manual_seed(5)
    assert D.Gamma(2.0, 1.0).sample((100,))[:4].tolist() == first[0]


def test_draws_at_the_ends() -> None:
    gradd.manual_seed(2)
    assert D.Poisson(0.0).sample((3,)).tolist() == [0.0] * 3
    assert D.Binomial(7, gradd.tensor([0.0, 1.0])).sample((2,)).tolist() == [[0.0, 7.0]] * 2
    assert D.Gamma(1e-4, 1.0).sample((50,)).min().item() > 0
    large = D.Poisson(1e6).sample((200,))
    assert abs(large.mean().item() - 1e6) < 6 * 1000 / math.sqrt(200)
    with pytest.raises(RuntimeError, match="invalid Poisson rate"):
        gradd.poisson(gradd.tensor([-1.0])).tolist()


def test_straight_through_draws_pass_gradients_to_probabilities() -> None:
    logits = gradd.tensor([0.1, 0.5, 2.0], requires_grad=True)
    drawn = D.OneHotCategoricalStraightThrough(logits=logits).rsample()
    assert sorted(drawn.round().tolist()) == [0.0, 0.0, 1.0]
    (drawn * gradd.tensor([1.0, 2.0, 3.0])).sum().backward()
    found = logits.grad
    probs = gradd.softmax(logits.detach(), 0)
    (wanted,) = gradd.autograd.grad((gradd.softmax(logits, 0) * gradd.tensor([1.0, 2.0, 3.0])).sum(), logits)
    assert found is not None
    assert gradd.allclose(found, wanted)
    assert probs.sum().item() == pytest.approx(1.0)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_draw_and_its_density_wait_for_nothing(session: Any, name: str) -> None:
    family = FAMILIES[name]
    before = session.stats()["round_trips"]
    d = family.make(gradd, *leaves(gradd, family))
    score = d.log_prob(d.sample())
    assert session.stats()["round_trips"] == before
    assert score.isnan().any().item() is False
