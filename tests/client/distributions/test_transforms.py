"""Transforms, constraints and the registries between them, as torch.distributions has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gradd
import pytest
from gradd.distributions import transforms

from tests.client.distributions.families import alike, asked

Make = Callable[[Any], Any]
_SQUARE = [[0.4, 0.2, -0.3], [0.1, 0.5, 0.2], [0.3, -0.2, 0.6]]

#: how to make each of the module `tt`, and an input
TRANSFORMS: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "exp": (lambda T, tt: tt.ExpTransform(), [0.5, -1.0]),
    "power": (lambda T, tt: tt.PowerTransform(T.tensor([2.0, -0.5])), [0.5, 2.0]),
    "sigmoid": (lambda T, tt: tt.SigmoidTransform(), [0.5, -30.0, 200.0]),
    "softplus": (lambda T, tt: tt.SoftplusTransform(), [0.5, -3.0, 30.0]),
    "tanh": (lambda T, tt: tt.TanhTransform(), [0.5, -3.0]),
    "abs": (lambda T, tt: tt.AbsTransform(), [0.5, -3.0]),
    "affine": (lambda T, tt: tt.AffineTransform(1.0, -2.0), [0.5, -3.0]),
    "affine of tensors": (
        lambda T, tt: tt.AffineTransform(T.tensor([1.0, 2.0]), T.tensor([-2.0, 0.5]), event_dim=1),
        [[0.5, -3.0], [1.0, 2.0]],
    ),
    "affine of numbers, of events": (lambda T, tt: tt.AffineTransform(1, 3, event_dim=1), [[0.5, -3.0]]),
    "correlations": (lambda T, tt: tt.CorrCholeskyTransform(), [[0.5, -1.0, 0.2], [0.1, 0.2, 0.3]]),
    "softmax": (lambda T, tt: tt.SoftmaxTransform(), [[0.5, -1.0, 0.2]]),
    "sticks": (lambda T, tt: tt.StickBreakingTransform(), [[0.5, -1.0, 0.2], [0.0, 0.0, 0.0]]),
    "lower cholesky": (lambda T, tt: tt.LowerCholeskyTransform(), _SQUARE),
    "positive definite": (lambda T, tt: tt.PositiveDefiniteTransform(), [_SQUARE, _SQUARE]),
    "composed": (
        lambda T, tt: tt.ComposeTransform([tt.AffineTransform(0.5, 2.0), tt.SigmoidTransform()]),
        [0.5, -1.0],
    ),
    "composed, of vectors": (
        lambda T, tt: tt.ComposeTransform([tt.ExpTransform(), tt.StickBreakingTransform()]),
        [[0.5, -1.0, 0.2]],
    ),
    "nothing": (lambda T, tt: tt.identity_transform, [0.5]),
    "inverse": (lambda T, tt: tt.ExpTransform().inv, [0.5, 2.0]),
    "independent": (lambda T, tt: tt.IndependentTransform(tt.ExpTransform(), 1), [[0.5, 2.0]]),
    "reshaped": (lambda T, tt: tt.ReshapeTransform((2, 2), (4,)), [[[0.5, 2.0], [1.0, 2.0]]]),
    "joined": (
        lambda T, tt: tt.CatTransform([tt.ExpTransform(), tt.TanhTransform()], -1, [1, 2]),
        [[0.5, 2.0, 0.1]],
    ),
    "joined, of vectors": (
        lambda T, tt: tt.CatTransform([tt.SoftmaxTransform(), tt.SoftmaxTransform()], -1, [2, 2]),
        [[0.5, 2.0, 0.1, 0.4]],
    ),
    "stacked": (lambda T, tt: tt.StackTransform([tt.ExpTransform(), tt.TanhTransform()], 1), [[0.5, 2.0]]),
    "a distribution's": (
        lambda T, tt: tt.CumulativeDistributionTransform(T.distributions.Normal(1.0, 2.0)),
        [0.5, 2.0],
    ),
    "with a cache": (lambda T, tt: tt.TanhTransform(cache_size=1), [0.5, 20.0]),
    "composed, with a cache": (
        lambda T, tt: tt.ComposeTransform([tt.AffineTransform(0.5, 2.0), tt.TanhTransform()], 1),
        [0.5, 20.0],
    ),
}

CONSTRAINTS: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "boolean": (lambda T, c: c.boolean, [0.0, 1.0, 0.5]),
    "one_hot": (lambda T, c: c.one_hot, [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.5, 0.5, 0.0]]),
    "nonnegative_integer": (lambda T, c: c.nonnegative_integer, [0.0, 3.0, -1.0, 0.5]),
    "positive_integer": (lambda T, c: c.positive_integer, [0.0, 3.0, 0.5]),
    "integer_interval": (lambda T, c: c.integer_interval(1, 3), [0.0, 3.0, 2.5, 4.0]),
    "integers below": (lambda T, c: c._IntegerLessThan(2), [0.0, 2.0, 2.5, 4.0]),
    "real": (lambda T, c: c.real, [0.5, float("nan"), float("inf")]),
    "real_vector": (lambda T, c: c.real_vector, [[0.5, 1.0], [float("nan"), 1.0]]),
    "positive": (lambda T, c: c.positive, [0.5, 0.0]),
    "nonnegative": (lambda T, c: c.nonnegative, [-0.5, 0.0]),
    "greater_than": (lambda T, c: c.greater_than(T.tensor([1.0, 2.0])), [1.5, 1.5]),
    "greater_than_eq": (lambda T, c: c.greater_than_eq(2), [1.5, 2.0]),
    "less_than": (lambda T, c: c.less_than(2), [1.5, 2.0]),
    "interval": (lambda T, c: c.interval(-1.0, T.tensor(2.0)), [-1.0, 2.0, 3.0]),
    "half_open_interval": (lambda T, c: c.half_open_interval(-1.0, 2.0), [-1.0, 2.0, 3.0]),
    "unit_interval": (lambda T, c: c.unit_interval, [0.0, 1.0, 1.5]),
    "multinomial": (lambda T, c: c.multinomial(3), [[1.0, 2.0], [-1.0, 2.0], [3.0, 3.0]]),
    "simplex": (lambda T, c: c.simplex, [[0.5, 0.5], [0.5, 0.6], [-0.5, 1.5]]),
    "lower_triangular": (
        lambda T, c: c.lower_triangular,
        [[[1.0, 0.0], [1.0, -1.0]], [[1.0, 1.0], [0.0, 1.0]]],
    ),
    "lower_cholesky": (lambda T, c: c.lower_cholesky, [[[1.0, 0.0], [1.0, -1.0]], [[1.0, 0.0], [2.0, 1.0]]]),
    "corr_cholesky": (lambda T, c: c.corr_cholesky, [[[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.0], [2.0, 1.0]]]),
    "square": (lambda T, c: c.square, [[1.0, 0.0], [0.6, 0.8]]),
    "not square": (lambda T, c: c.positive_definite, [[1.0, 0.0, 2.0], [0.6, 0.8, 2.0]]),
    "symmetric": (lambda T, c: c.symmetric, [[1.0, 0.5], [0.5, 0.8]]),
    "positive_semidefinite": (
        lambda T, c: c.positive_semidefinite,
        [[[1.0, 0.0], [0.0, -1.0]], [[2.0, 1.0], [1.0, 2.0]]],
    ),
    "positive_definite": (
        lambda T, c: c.positive_definite,
        [[[1.0, 0.0], [0.0, -1.0]], [[2.0, 1.0], [1.0, 2.0]]],
    ),
    "cat": (lambda T, c: c.cat([c.positive, c.real], -1, [2, 1]), [[1.0, -1.0, -1.0]]),
    "stack": (lambda T, c: c.stack([c.positive, c.unit_interval], 1), [[1.0, -1.0], [2.0, 0.5]]),
    "independent": (lambda T, c: c.independent(c.unit_interval, 2), [[[1.0, 0.5]], [[2.0, 0.5]]]),
    "mixture": (
        lambda T, c: c.MixtureSameFamilyConstraint(c.interval(0.0, T.tensor([1.0, 2.0]))),
        [0.5, 1.5],
    ),
    "dependent": (lambda T, c: c.dependent(is_discrete=True, event_dim=1), [0.5]),
    "too few dimensions": (lambda T, c: c.independent(c.real, 3), [0.5]),
    "no constraint": (lambda T, c: c.independent(3, 1), [0.5]),
    "no whole number": (lambda T, c: c.independent(c.real, 1.5), [0.5]),
    "lengths": (lambda T, c: c.cat([c.real], 0, [1, 2]), [0.5]),
}


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


def _mapped(T: Any, make: Callable[[Any, Any], Any], given: Any) -> dict[str, Any]:
    tt = T.distributions.transforms
    t = make(T, tt)
    x = T.tensor(given, requires_grad=True)
    y = t(x)
    back = t.inv(y)
    queries = {
        "output": lambda: y,
        "input": lambda: back,
        "inverse": lambda: (t.inv.inv is t, t.inv(T.tensor(y.tolist()))),
        "change": lambda: t.log_abs_det_jacobian(x, y),
        "change back": lambda: t.inv.log_abs_det_jacobian(y, x),
        "gradient": lambda: T.autograd.grad(y.sum(), x, retain_graph=True),
        "texts": lambda: (repr(t), repr(t.inv), repr(t.domain), repr(t.codomain)),
        "shapes": lambda: (tuple(t.forward_shape(x.shape)), tuple(t.inverse_shape(y.shape))),
        "too small": lambda: t.forward_shape(()),
        "kinds": lambda: (t.bijective, t.domain.event_dim, t.codomain.event_dim, t.domain.is_discrete),
        "event": lambda: t.event_dim,
        "sign": lambda: t.sign,
        "cached": lambda: (t.with_cache() == t, t(x) is y, t.inv(y) is back, back is x),
        "equal": lambda: (t == make(T, tt), t == tt.SoftplusTransform(), t.inv == make(T, tt).inv),
    }
    return {name: asked(query) for name, query in queries.items()}


@pytest.mark.oracle
@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_transform_is_torchs(oracle: Callable[..., Any], name: str) -> None:
    mine = _mapped(gradd, *TRANSFORMS[name])
    theirs = oracle(lambda T: _mapped(T, *TRANSFORMS[name]))
    assert not {q: (mine[q], theirs[q]) for q in theirs if not alike(mine[q], theirs[q], 2e-5, 2e-6)}


def _limited(T: Any, make: Callable[[Any, Any], Any], given: Any) -> dict[str, Any]:
    D = T.distributions
    try:
        c = make(T, D.constraints)
    except Exception as error:
        return {"made": [type(error).__name__, str(error)]}
    value = T.tensor(given)
    queries = {
        "inside": lambda: c.check(value),
        "text": lambda: repr(c),
        "kinds": lambda: (c.is_discrete, c.event_dim, D.constraints.is_dependent(c)),
        "bijection": lambda: repr(D.biject_to(c)),
        "transform": lambda: repr(D.transform_to(c)),
        "made inside": lambda: c.check(D.transform_to(c)(T.zeros_like(value))).all(),
    }
    return {name: asked(query) for name, query in queries.items()}


@pytest.mark.oracle
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_a_constraint_is_torchs(oracle: Callable[..., Any], name: str) -> None:
    mine = _limited(gradd, *CONSTRAINTS[name])
    theirs = oracle(lambda T: _limited(T, *CONSTRAINTS[name]))
    assert not {q: (mine[q], theirs[q]) for q in theirs if not alike(mine[q], theirs[q])}


@pytest.mark.oracle
def test_errors_are_torchs(oracle: Callable[..., Any]) -> None:
    def said(T: Any) -> Any:
        D, tt = T.distributions, T.distributions.transforms
        wrong: list[Callable[[], Any]] = [
            lambda: tt.ExpTransform(cache_size=2),
            lambda: tt.ReshapeTransform((2,), (3,)),
            lambda: tt.ReshapeTransform((2,), (2, 1)).forward_shape((3,)),
            lambda: tt.StickBreakingTransform().event_dim + tt.CorrCholeskyTransform().event_dim,
            lambda: tt.CorrCholeskyTransform().forward_shape((2,)),
            lambda: tt.CorrCholeskyTransform().inverse_shape((2, 3)),
            lambda: tt.IndependentTransform(tt.ExpTransform(), 1)(T.tensor(1.0)),
            lambda: tt.CatTransform([3]),
            lambda: tt.CatTransform([tt.ExpTransform()], 0, [1, 2]),
            lambda: tt.CatTransform([tt.ExpTransform()], 1)(T.zeros(1)),
            lambda: tt.CatTransform([tt.ExpTransform()], 0)(T.zeros(2)),
            lambda: tt.StackTransform([tt.ExpTransform()], 0).inv(T.zeros(2)),
            lambda: tt.StackTransform([tt.ExpTransform()], 2).log_abs_det_jacobian(T.zeros(2), T.zeros(2)),
            lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), 3),
            lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), [3]),
            lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), tt.StickBreakingTransform()),
            lambda: D.biject_to(D.constraints.lower_cholesky),
            lambda: D.transform_to.register(3, lambda c: c),
            lambda: D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(0.0, 1.0)),
            lambda: D.MixtureSameFamily(D.Categorical(T.ones(2)), 3),
            lambda: D.MixtureSameFamily(D.Categorical(T.ones(2)), D.Normal(T.zeros(3), 1.0)),
            lambda: D.MixtureSameFamily(D.Categorical(T.ones(3, 2)), D.Normal(T.zeros(4, 2), 1.0)),
            lambda: D.Geometric(T.tensor([0.5, 0.5])).log_prob(T.tensor([0.5, 1.0])).tolist(),
        ]
        return [asked(query) for query in wrong]

    mine, theirs = said(gradd), oracle(said)
    assert mine == theirs


def test_a_squashed_policy_finds_its_draws_again(session: Any) -> None:
    D = gradd.distributions
    mean = gradd.tensor([0.5, 30.0], requires_grad=True)
    policy = D.TransformedDistribution(D.Normal(mean, 1.0), [transforms.TanhTransform(cache_size=1)])
    with session.profile() as profile:
        action = policy.rsample()
        # atanh of what rounds to 1 would be infinite; the cache has the draw itself
        score = policy.log_prob(action)
        score.sum().backward()
    assert profile.round_trips <= 1
    assert mean.grad is not None
    assert score.isfinite().all().item()
    assert mean.grad.isfinite().all().item()
