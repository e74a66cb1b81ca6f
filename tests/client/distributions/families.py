"""Distributions with values to ask them about, made of either module; and what they answer, as plain data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Make = Callable[[Any], Any]


@dataclass(frozen=True)
class Family:
    """How to make one; the parameters, in order, are leaves that require gradients; a value to score."""

    make: Callable[..., Any]
    parameters: tuple[Any, ...]
    value: Any
    #: queries whose answers have these names are not asked
    without: tuple[str, ...] = ()
    tolerance: float = 1e-5


def plain(found: Any) -> Any:
    """Tensors as lists, others as text."""
    if isinstance(found, (tuple, list)):
        return [plain(f) for f in found]
    return found.detach().tolist() if hasattr(found, "tolist") else str(found)


def alike(a: Any, b: Any, tolerance: float = 1e-5, absolute: float = 1e-8) -> bool:
    """Whether plain values are equal, numbers nearly so."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(alike(x, y, tolerance, absolute) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=tolerance, abs_tol=absolute) or (math.isnan(a) and math.isnan(b))
    return bool(type(a) is type(b) and a == b)


def asked(query: Callable[[], Any]) -> Any:
    """What a query gives, or its error's class and message."""
    try:
        return plain(query())
    except Exception as error:
        return [type(error).__name__, str(error).replace("'gradd.", "'torch.")]


def leaves(T: Any, family: Family) -> list[Any]:
    """The parameters as tensors of double precision."""
    return [T.tensor(p, dtype=T.float64, requires_grad=True) for p in family.parameters]


def gradients(T: Any, out: Any, params: list[Any]) -> Any:
    """The gradients of a sum by the parameters; None where there is none."""
    found = T.autograd.grad(out.sum(), params, allow_unused=True)
    return [f"{g}" if g is None else g for g in found]


def answers(T: Any, family: Family) -> dict[str, Any]:
    """What a distribution says of itself and of a value."""
    params = leaves(T, family)
    d = family.make(T, *params)
    value = T.tensor(family.value, dtype=T.float64)
    wide = d.expand((4, *d.batch_shape))
    queries: dict[str, Callable[[], Any]] = {
        "repr": lambda: repr(d),
        "shapes": lambda: (d.batch_shape, d.event_shape, d.has_rsample, d.has_enumerate_support),
        "support": lambda: (repr(d.support), d.support.event_dim, d.support.is_discrete),
        "constraints": lambda: repr(d.arg_constraints),
        "mean": lambda: d.mean,
        "mode": lambda: d.mode,
        "variance": lambda: d.variance,
        "stddev": lambda: d.stddev,
        "log_prob": lambda: d.log_prob(value),
        "gradients": lambda: gradients(T, d.log_prob(value), params),
        "inside": lambda: d.support.check(value),
        "cdf": lambda: d.cdf(value),
        "icdf": lambda: d.icdf(T.tensor(0.3, dtype=T.float64)),
        "entropy": lambda: d.entropy(),
        "entropy's gradients": lambda: gradients(T, d.entropy(), params),
        "perplexity": lambda: d.perplexity(),
        "values": lambda: d.enumerate_support(),
        "values, once": lambda: d.enumerate_support(expand=False),
        "expanded": lambda: (repr(wide), wide.batch_shape, wide.event_shape),
        "expanded log_prob": lambda: wide.log_prob(value),
        "expanded mean": lambda: wide.mean,
        "sample": lambda: d.sample((2, 3)).shape,
        "expanded sample": lambda: wide.sample().shape,
        "rsample": lambda: d.rsample((5,)).shape,
    }
    return {name: asked(query) for name, query in queries.items() if name not in family.without}


_COVARIANCE = [[2.0, 0.5], [0.5, 1.0]]

FAMILIES: dict[str, Family] = {
    "Normal": Family(lambda T, m, s: T.distributions.Normal(m, s), ([0.5, -1.0], [1.0, 2.5]), [0.3, 4.0]),
    "Normal, broadcast": Family(
        lambda T, m: T.distributions.Normal(m, 2.0), ([[0.5], [-1.0]],), [0.3, 4.0], ("expanded",)
    ),
    "Uniform": Family(lambda T, a, b: T.distributions.Uniform(a, b), ([0.0, -1.0], [1.0, 3.0]), [0.25, 2.5]),
    "Bernoulli": Family(lambda T, p: T.distributions.Bernoulli(p), ([0.1, 0.5, 0.8],), [0.0, 1.0, 1.0]),
    "Bernoulli of logits": Family(
        lambda T, p: T.distributions.Bernoulli(logits=p), ([-1.0, 0.2, 3.0],), [0.0, 1.0, 1.0]
    ),
    "Categorical": Family(
        lambda T, p: T.distributions.Categorical(p), ([[0.5, 1.5, 2.0], [1.0, 1.0, 3.0]],), [2.0, 0.0]
    ),
    "Categorical of logits": Family(
        lambda T, p: T.distributions.Categorical(logits=p), ([[-1.0, 0.3, 2.0], [0.0, 0.0, 1.0]],), [1.0, 2.0]
    ),
    "Independent": Family(
        lambda T, m, s: T.distributions.Independent(T.distributions.Normal(m, s), 1),
        ([[0.5, -1.0]], [[1.0, 2.5]]),
        [[0.3, 4.0]],
    ),
    "MultivariateNormal": Family(
        lambda T, m, c: T.distributions.MultivariateNormal(m, c), ([0.5, -1.0], _COVARIANCE), [0.3, 4.0]
    ),
    "MultivariateNormal of precision": Family(
        lambda T, m, c: T.distributions.MultivariateNormal(m, precision_matrix=c),
        ([[0.5, -1.0], [0.0, 1.0]], _COVARIANCE),
        [[[0.3, 4.0], [1.0, 2.0]]],
    ),
    "MultivariateNormal of a factor": Family(
        lambda T, m, c: T.distributions.MultivariateNormal(m, scale_tril=c),
        ([0.5, -1.0], [[[1.0, 0.0], [0.5, 2.0]], [[2.0, 0.0], [-0.5, 1.0]]]),
        [0.3, 4.0],
    ),
    "Laplace": Family(lambda T, m, s: T.distributions.Laplace(m, s), ([0.5, -1.0], [1.0, 2.5]), [0.3, 4.0]),
    "Cauchy": Family(lambda T, m, s: T.distributions.Cauchy(m, s), ([0.5, -1.0], [1.0, 2.5]), [0.3, 4.0]),
    "Exponential": Family(lambda T, r: T.distributions.Exponential(r), ([0.5, 2.0],), [0.3, 4.0]),
    "Geometric": Family(lambda T, p: T.distributions.Geometric(p), ([0.1, 0.5, 1.0],), [0.0, 3.0, 0.0]),
    "Geometric of logits": Family(
        lambda T, p: T.distributions.Geometric(logits=p), ([-1.0, 0.5, 1.0],), [0.0, 3.0, 1.0]
    ),
    "GeneralizedPareto": Family(
        # PyTorch's densities have no double precision.
        lambda T, m, s, c: T.distributions.GeneralizedPareto(m.float(), s.float(), c.float()),
        ([0.0, 1.0, -1.0], [1.0, 2.0, 0.5], [0.3, -0.4, 0.7]),
        [0.3, 2.0, 4.0],
    ),
    "Gumbel": Family(lambda T, m, s: T.distributions.Gumbel(m, s), ([0.5, -1.0], [1.0, 2.5]), [0.3, 4.0]),
    "HalfNormal": Family(lambda T, s: T.distributions.HalfNormal(s), ([0.5, 2.0],), [0.3, 4.0]),
    "HalfCauchy": Family(lambda T, s: T.distributions.HalfCauchy(s), ([0.5, 2.0],), [0.3, 4.0]),
    "LogNormal": Family(
        lambda T, m, s: T.distributions.LogNormal(m, s), ([0.5, -1.0], [1.0, 2.5]), [0.3, 4.0]
    ),
    "LogisticNormal": Family(
        lambda T, m, s: T.distributions.LogisticNormal(m, s), ([0.5, -1.0], [1.0, 2.5]), [0.2, 0.5, 0.3]
    ),
    "Pareto": Family(lambda T, s, a: T.distributions.Pareto(s, a), ([0.5, 1.0], [1.0, 2.5]), [0.7, 4.0]),
    "Weibull": Family(lambda T, s, c: T.distributions.Weibull(s, c), ([0.5, 1.0], [1.0, 2.5]), [0.7, 4.0]),
    "Kumaraswamy": Family(
        lambda T, a, b: T.distributions.Kumaraswamy(a, b), ([1.5, 2.0], [1.0, 2.5]), [0.7, 0.2]
    ),
    "OneHotCategorical": Family(
        lambda T, p: T.distributions.OneHotCategorical(p),
        ([[0.5, 1.5, 2.0], [1.0, 1.0, 3.0]],),
        [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
    ),
    "OneHotCategoricalStraightThrough": Family(
        lambda T, p: T.distributions.OneHotCategoricalStraightThrough(logits=p),
        ([0.5, 1.5, 2.0],),
        [0.0, 1.0, 0.0],
    ),
    "RelaxedBernoulli": Family(
        lambda T, t, p: T.distributions.RelaxedBernoulli(t, p), (0.5, [0.2, 0.7]), [0.3, 0.9]
    ),
    "LogitRelaxedBernoulli": Family(
        lambda T, t, p: T.distributions.relaxed_bernoulli.LogitRelaxedBernoulli(t, logits=p),
        (0.5, [0.2, 0.7]),
        [0.3, -0.9],
    ),
    "RelaxedOneHotCategorical": Family(
        lambda T, t, p: T.distributions.RelaxedOneHotCategorical(t, p),
        (0.5, [[0.5, 1.5, 2.0], [1.0, 1.0, 3.0]]),
        [[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]],
    ),
    "MixtureSameFamily": Family(
        lambda T, p, m, s: T.distributions.MixtureSameFamily(
            T.distributions.Categorical(p), T.distributions.Normal(m, s)
        ),
        ([0.3, 0.7], [0.5, -1.0], [1.0, 2.5]),
        [0.3, 4.0],
    ),
    "MixtureSameFamily of vectors": Family(
        lambda T, p, m, s: T.distributions.MixtureSameFamily(
            T.distributions.Categorical(logits=p),
            T.distributions.Independent(T.distributions.Normal(m, s), 1),
        ),
        ([[0.3, 0.7]] * 3, [[[0.5, -1.0], [0.0, 1.0]]] * 3, [[[1.0, 2.5], [0.5, 2.0]]] * 3),
        [0.3, 4.0],
    ),
    "TransformedDistribution": Family(
        lambda T, m, s: T.distributions.TransformedDistribution(
            T.distributions.Normal(m, s),
            [
                T.distributions.transforms.AffineTransform(1.0, T.tensor(-2.0, dtype=T.float64)),
                T.distributions.transforms.TanhTransform(),
            ],
        ),
        ([0.5, -1.0], [1.0, 2.5]),
        [0.3, -0.9],
    ),
    "TransformedDistribution of vectors": Family(
        lambda T, m, s: T.distributions.TransformedDistribution(
            T.distributions.Normal(m, s),
            [
                T.distributions.transforms.ExpTransform(),
                T.distributions.transforms.ReshapeTransform((4,), (2, 2)),
            ],
        ),
        ([0.5, -1.0, 0.0, 1.0], [1.0, 2.5, 1.0, 0.5]),
        [[0.3, 0.9], [2.0, 0.1]],
    ),
    "Gamma": Family(
        lambda T, a, r: T.distributions.Gamma(a, r), ([0.5, 3.0], [1.0, 2.5]), [0.3, 4.0], ("cdf",)
    ),
    "Chi2": Family(lambda T, n: T.distributions.Chi2(n), ([0.5, 3.0],), [0.3, 4.0], ("cdf",)),
    "Dirichlet": Family(
        lambda T, a: T.distributions.Dirichlet(a), ([[0.5, 3.0, 1.0], [0.5, 0.9, 0.2]],), [0.2, 0.5, 0.3]
    ),
    "Beta": Family(lambda T, a, b: T.distributions.Beta(a, b), ([0.5, 3.0], [2.0, 2.5]), [0.2, 0.5]),
    "Poisson": Family(lambda T, r: T.distributions.Poisson(r), ([0.5, 30.0],), [0.0, 25.0]),
    "Binomial": Family(lambda T, p: T.distributions.Binomial(4, p), ([0.1, 0.8],), [0.0, 3.0]),
    "Binomial of counts": Family(
        lambda T, p: T.distributions.Binomial(T.tensor([4.0, 6.0]), logits=p), ([-1.0, 0.8],), [0.0, 3.0]
    ),
    "NegativeBinomial": Family(
        lambda T, n, p: T.distributions.NegativeBinomial(n, p), ([2.5, 0.0], [0.1, 0.8]), [3.0, 0.0]
    ),
    "Multinomial": Family(
        lambda T, p: T.distributions.Multinomial(3, p),
        ([[0.5, 1.5, 2.0], [1.0, 1.0, 3.0]],),
        [[0.0, 2.0, 1.0], [3.0, 0.0, 0.0]],
    ),
    "StudentT": Family(
        lambda T, n, m, s: T.distributions.StudentT(n, m, s),
        ([0.5, 1.5, 3.0], [0.0, 1.0, 2.0], [1.0, 2.0, 0.5]),
        [0.3, 4.0, 1.0],
    ),
    "FisherSnedecor": Family(
        lambda T, a, b: T.distributions.FisherSnedecor(a, b), ([1.5, 3.0], [5.0, 3.5]), [0.3, 4.0]
    ),
    "InverseGamma": Family(
        lambda T, a, r: T.distributions.InverseGamma(a, r), ([0.5, 3.0], [1.0, 2.5]), [0.3, 4.0], ("cdf",)
    ),
    "ContinuousBernoulli": Family(
        lambda T, p: T.distributions.ContinuousBernoulli(p), ([0.1, 0.5, 0.8, 0.4995],), [0.2, 0.9, 0.5, 0.1]
    ),
    "ContinuousBernoulli of logits": Family(
        lambda T, p: T.distributions.ContinuousBernoulli(logits=p), ([-1.0, 0.0, 3.0],), [0.2, 0.9, 0.5]
    ),
    "LKJCholesky": Family(
        lambda T, c: T.distributions.LKJCholesky(3, c),
        ([0.5, 2.0],),
        [[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, -0.6, 0.8]],
    ),
    "LowRankMultivariateNormal": Family(
        lambda T, m, w, d: T.distributions.LowRankMultivariateNormal(m, w, d),
        ([0.5, -1.0, 0.0], [[[1.0], [2.0], [0.5]]] * 2, [0.5, 0.3, 1.0]),
        [0.3, 4.0, 0.0],
    ),
    # PyTorch's Bessel functions are polynomials of few digits.
    "VonMises": Family(
        lambda T, m, k: T.distributions.VonMises(m, k),
        ([0.5, -1.0], [0.5, 8.0]),
        [0.3, 3.0],
        ("gradients",),
        1e-4,
    ),
    "Wishart": Family(
        lambda T, n, c: T.distributions.Wishart(n, c),
        ([4.0, 3.5], _COVARIANCE),
        [[3.0, 1.0], [1.0, 2.0]],
        # PyTorch warns of singular draws where there are none.
        ("sample", "rsample", "expanded sample"),
    ),
    "Wishart of a factor": Family(
        lambda T, c: T.distributions.Wishart(5.0, scale_tril=c),
        ([[1.0, 0.0], [0.5, 2.0]],),
        [[3.0, 1.0], [1.0, 2.0]],
        ("sample", "rsample", "expanded sample"),
    ),
}
