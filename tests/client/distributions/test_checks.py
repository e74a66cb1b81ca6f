"""Arguments are checked without waiting for values: PyTorch's errors come at the next read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gradd
import pytest
from gradd import distributions as D
from gradd import nn

from tests.client.distributions.families import asked


def _own(base: Any) -> Any:
    """An instance of a subclass with an `__init__` of its own."""
    return type("Own", (base,), {"__init__": lambda self: base.__init__(self, 0.0, 1.0)})()


Wrong = Callable[[Any], Any]
#: what each gives is computed and read at once, so that both raise
WRONG: dict[str, Wrong] = {
    "a number": lambda T: T.distributions.Normal(0.0, -1.0),
    "a number and a tensor": lambda T: T.distributions.Normal(T.tensor([0.0, 1.0]), -1).mean.tolist(),
    "a tensor": lambda T: T.distributions.Normal(T.zeros(2), T.tensor([1.0, -1.0])).mean.tolist(),
    "one element": lambda T: T.distributions.Normal(T.zeros(1), T.tensor([-0.1])).mean.tolist(),
    "no dimension": lambda T: T.distributions.Normal(T.tensor(0.5), T.tensor(-0.1)).mean.exp().tolist(),
    "a result": lambda T: T.distributions.Normal(
        T.zeros(2), T.tensor([1.0, -1.0], requires_grad=True) * 2
    ).mean.tolist(),
    "a leaf": lambda T: T.distributions.Normal(
        T.zeros(2), T.tensor([1.0, -1.0], requires_grad=True, dtype=T.float64)
    ).mean.tolist(),
    "nan": lambda T: T.distributions.Categorical(logits=T.tensor([0.0, float("nan")])).probs.tolist(),
    "bounds": lambda T: T.distributions.Uniform(T.tensor([0.0, 1.0]), T.tensor([1.0, 0.5])).mean.tolist(),
    "bounds that are numbers": lambda T: T.distributions.Uniform(3, 2),
    "not positive definite": lambda T: T.distributions.MultivariateNormal(
        T.zeros(2), -T.eye(2)
    ).mean.tolist(),
    "not symmetric": lambda T: T.distributions.MultivariateNormal(
        T.zeros(2), T.tensor([[1.0, 0.5], [0.0, 1.0]])
    ).mean.tolist(),
    "a value": lambda T: T.distributions.Bernoulli(0.25).log_prob(T.tensor([0.5])).tolist(),
    "a value above": lambda T: T.distributions.Categorical(T.ones(3)).log_prob(T.tensor([3])).tolist(),
    "a value of a batch": lambda T: (
        T.distributions.Independent(T.distributions.Uniform(T.zeros(2), T.ones(2)), 1)
        .log_prob(T.tensor([0.5, 2.0]))
        .tolist()
    ),
    "no tensor": lambda T: T.distributions.Normal(0.0, 1.0).log_prob(3.0),
    "its shape": lambda T: T.distributions.Normal(T.zeros(2), 1.0).log_prob(T.zeros(3)),
    "its event": lambda T: T.distributions.MultivariateNormal(T.zeros(2), T.eye(2)).log_prob(T.zeros(3)),
    "a string": lambda T: T.distributions.Normal("a", 2),
    "neither": lambda T: T.distributions.Bernoulli(),
    "both": lambda T: T.distributions.Categorical(T.ones(2), T.ones(2)),
    "no dimensions": lambda T: T.distributions.Categorical(T.tensor(1.0)),
    "two matrices": lambda T: T.distributions.MultivariateNormal(T.zeros(2), T.eye(2), T.eye(2)),
    "too many dimensions": lambda T: T.distributions.Independent(T.distributions.Normal(0.0, 1.0), 1),
    "no pair": lambda T: T.distributions.kl_divergence(
        T.distributions.Categorical(T.ones(2)), T.distributions.Bernoulli(0.5)
    ),
    "no default": lambda T: T.distributions.Distribution.set_default_validate_args("yes"),
    "a subclass that cannot be expanded": lambda T: _own(T.distributions.Normal).expand((2,)),
    "a class that is none": lambda T: T.distributions.kl.register_kl(3, 4),
}


@pytest.fixture
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


@pytest.mark.oracle
@pytest.mark.parametrize("name", WRONG)
def test_an_error_is_torchs(oracle: Callable[..., Any], session: Any, name: str) -> None:
    said = asked(lambda: WRONG[name](gradd))
    assert said == oracle(lambda T: asked(lambda: WRONG[name](T)))
    assert said[0] in ("ValueError", "NotImplementedError", "TypeError")


def test_an_error_names_the_line_that_made_the_distribution(session: Any) -> None:
    D.Normal(gradd.zeros(2), gradd.tensor([1.0, -1.0]))  # this line
    with pytest.raises(ValueError, match="of distribution Normal") as found:
        gradd.ones(2).tolist()
    assert "# this line" in str(found.value.__cause__)


def test_what_was_done_before_an_error_stands(session: Any) -> None:
    w = gradd.zeros(2)
    w += 1
    d = D.Normal(w, w - 1)
    with pytest.raises(ValueError, match="GreaterThan"):
        d.sample().tolist()
    assert w.tolist() == [1.0, 1.0]


def test_nothing_is_checked_without_validation(session: Any) -> None:
    d = D.Normal(gradd.zeros(2), gradd.tensor([1.0, -1.0]), validate_args=False)
    assert d.log_prob(gradd.tensor([0.0, float("nan")])).isnan().tolist() == [False, True]
    assert not d.expand((3, 2))._validate_args
    D.Distribution.set_default_validate_args(False)
    try:
        assert D.Bernoulli(gradd.tensor(3.0)).mean.item() == 3.0
    finally:
        D.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="Bernoulli"):
        D.Bernoulli(gradd.tensor(3.0)).mean.exp().item()


def test_numbers_are_checked_here(session: Any) -> None:
    steps = session.stats()["steps"]
    D.Normal(0.0, 1.0)
    session.flush()
    assert session.stats()["steps"] - steps == 2  # the two tensors
    with pytest.raises(ValueError, match=r"Normal\(loc: 0.0, scale: 0.0\)"):
        D.Normal(0.0, 1e-60)


def test_a_check_runs_within_vmap_and_of_a_gradient(session: Any) -> None:
    x = gradd.tensor([[0.5, 1.5], [2.0, 3.0]])

    def score(scale: Any) -> Any:
        return D.Normal(0.0, scale).log_prob(scale).sum()

    each = gradd.func.vmap(gradd.func.grad(score))(x)
    together = gradd.func.grad(score)(x)
    assert gradd.allclose(each, together)
    with pytest.raises(ValueError, match="GreaterThan"):
        gradd.vmap(score)(-x).tolist()


def test_a_step_of_ppo_and_of_a_vae_is_one_planned_batch(session: Any) -> None:
    encoder, decoder, policy = nn.Linear(4, 6), nn.Linear(3, 4), nn.Linear(4, 5)
    opt = gradd.optim.Adam([*encoder.parameters(), *decoder.parameters(), *policy.parameters()], lr=0.01)
    x = gradd.tensor([[0.1, 0.9, 0.2, 0.8], [0.5, 0.4, 0.3, 0.2]])
    losses = []

    def step() -> None:
        mean, width = encoder(x).chunk(2, dim=-1)
        posterior = D.Independent(D.Normal(mean, width.exp()), 1)
        prior = D.Independent(D.Normal(gradd.zeros(3), gradd.ones(3)), 1)
        found = D.Bernoulli(logits=decoder(posterior.rsample()))
        elbo = found.log_prob((x > 0.45).float()).sum(-1) - D.kl_divergence(posterior, prior)
        actions = D.Categorical(logits=policy(x))
        taken = actions.sample()
        gain = actions.log_prob(taken).exp() + 0.01 * actions.entropy()
        loss = -(elbo + gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.detach())

    with session.profile() as profile:
        for _ in range(6):
            step()
    assert [batch.how for batch in profile.batches][2:6] == ["planned"] * 4
    assert profile.round_trips <= 1
    assert all(loss.isfinite().item() for loss in losses)


def test_a_check_against_numbers_is_one_step(session: Any) -> None:
    wide, counts = gradd.tensor([1.0, 2.0]), gradd.tensor([[0, 1], [2, 2]])
    logits = gradd.zeros(2, 3)

    def steps(make: Any) -> int:
        session.flush()
        before = session.stats()["steps"]
        make()
        session.flush()
        return int(session.stats()["steps"] - before)

    plain = steps(lambda: D.Normal(wide, wide, validate_args=False))
    assert steps(lambda: D.Normal(wide, wide)) == plain + 2
    checked, unchecked = (D.Categorical(logits=logits, validate_args=on) for on in (True, False))
    assert steps(lambda: checked.log_prob(counts)) - steps(lambda: unchecked.log_prob(counts)) == 1


@pytest.mark.parametrize(
    ("constraint", "good", "bad"),
    [
        ("real", [0.0, -1.0], float("nan")), ("positive", [1e-9], 0.0), ("nonnegative", [0.0], -1e-9),
        ("unit_interval", [0.0, 1.0], 1.5), ("boolean", [0.0, 1.0], 0.5),
        ("real_vector", [1.0], float("nan")),
    ],
)  # fmt: skip
def test_a_test_of_a_region_is_its_check(
    session: Any, constraint: str, good: list[float], bad: float
) -> None:
    from gradd.distributions._checks import demand_within

    region = getattr(D.constraints, constraint)
    demand_within(region, ["bad: "], gradd.tensor(good))
    session.flush()
    demand_within(region, ["bad: "], gradd.tensor([*good, bad]))
    with pytest.raises(ValueError, match="bad: tensor"):
        session.flush()
    for values in (good, [*good, bad]):
        assert bool(region.check(gradd.tensor(values)).all()) is (values is good)
