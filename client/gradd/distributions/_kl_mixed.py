"""Divergences between families: the cross entropy, from moments of the first, minus its entropy.

Where the first has values outside of the second's support, they are infinite.
"""

from __future__ import annotations

import math
from typing import Any

from .. import _top as ops
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .continuous_bernoulli import ContinuousBernoulli
from .exponential import Exponential
from .gamma import Gamma
from .gumbel import Gumbel
from .kl import register_kl
from .laplace import Laplace
from .normal import Normal
from .pareto import Pareto
from .poisson import Poisson
from .uniform import Uniform
from .utils import euler_constant

#: the families that have values outside of the others' supports
_UNBOUNDED = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}


def _infinite(p: Any, q: Any) -> Any:
    return ops.full_like(p.mean, math.inf)


for _first, _others in _UNBOUNDED.items():
    for _other in _others:
        register_kl(_first, _other)(_infinite)


def _normal_cross(q: Any, mean: Any, variance: Any) -> Any:
    """The cross entropy of a normal distribution with what has these moments."""
    return (
        0.5 * math.log(2 * math.pi)
        + q.scale.log()
        + (variance + (mean - q.loc).pow(2)) / (2 * q.scale.pow(2))
    )


def _gamma_cross(q: Any, mean: Any, log_mean: Any) -> Any:
    """The cross entropy of a gamma distribution, from the means of a value and of its logarithm."""
    a = q.concentration
    return ops.lgamma(a) - a * q.rate.log() - (a - 1) * log_mean + q.rate * mean


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, ContinuousBernoulli)
@register_kl(Uniform, ContinuousBernoulli)
def _to_continuous_bernoulli(p: Any, q: Any) -> Any:
    found = -p.entropy() - p.mean * q.logits - ops.log1p(-q.probs) - q._cont_bern_log_norm()
    if isinstance(p, Uniform):
        # PyTorch takes the ends of the support for outside as well.
        return found.masked_fill((p.high >= 1) | (p.low <= 0), math.inf)
    return found


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
@register_kl(Gamma, Exponential)
def _to_exponential(p: Any, q: Any) -> Any:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(Beta, Gamma)
def _beta_gamma(p: Any, q: Any) -> Any:
    log_mean = p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    return -p.entropy() + _gamma_cross(q, p.mean, log_mean)


@register_kl(Beta, Normal)
@register_kl(ContinuousBernoulli, Normal)
@register_kl(Exponential, Normal)
@register_kl(Gamma, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Laplace, Normal)
@register_kl(Uniform, Normal)
def _to_normal(p: Any, q: Any) -> Any:
    return -p.entropy() + _normal_cross(q, p.mean, p.variance)


@register_kl(Beta, Uniform)
def _beta_uniform(p: Any, q: Any) -> Any:
    return (-p.entropy() + (q.high - q.low).log()).masked_fill((q.low > 0) | (q.high < 1), math.inf)


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p: Any, q: Any) -> Any:
    # PyTorch has it infinite where the support is inside.
    return (-p.entropy() + (q.high - q.low).log()).masked_fill((q.low >= 0) | (q.high <= 1), math.inf)


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Any, q: Any) -> Any:
    return -p.entropy() + _gamma_cross(q, p.mean, -euler_constant - p.rate.log())


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p: Any, q: Any) -> Any:
    product, shift = p.rate * q.scale, q.loc / q.scale
    return product.log() - 1 - shift + ops.exp(shift) * product / (product + 1) + product.reciprocal()


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p: Any, q: Any) -> Any:
    a, product, shift = p.concentration, p.rate * q.scale, q.loc / q.scale
    shape = (a - 1) * a.digamma() - a.lgamma() - a
    tail = ops.exp(shift) * (1 + product.reciprocal()).pow(-a)
    return shape + product.log() + a / product + tail - shift


@register_kl(Normal, Gumbel)
def _normal_gumbel(p: Any, q: Any) -> Any:
    shift, ratio = (p.loc - q.loc) / q.scale, (p.scale / q.scale).pow(2)
    return shift + ops.exp(0.5 * ratio - shift) - 0.5 * ratio.log() - 0.5 * (1 + math.log(2 * math.pi))


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Any:
    distance = p.loc - q.loc
    x = distance / p.scale
    width = math.sqrt(2 / math.pi) * p.scale * ops.exp(-0.5 * x.pow(2))
    absolute = width + distance * ops.erf(math.sqrt(0.5) * x)
    return absolute / q.scale - (p.scale / q.scale).log() - 0.5 * (1 + math.log(0.5 * math.pi))


@register_kl(Pareto, Exponential)
def _pareto_exponential(p: Any, q: Any) -> Any:
    found = -p.entropy() - q.rate.log() + q.rate * p.alpha * p.scale / (p.alpha - 1)
    return found.masked_fill(p.alpha <= 1, math.inf)


@register_kl(Pareto, Gamma)
def _pareto_gamma(p: Any, q: Any) -> Any:
    mean = p.alpha * p.scale / (p.alpha - 1)
    found = -p.entropy() + _gamma_cross(q, mean, p.scale.log() + p.alpha.reciprocal())
    return found.masked_fill(p.alpha <= 1, math.inf)


@register_kl(Pareto, Normal)
def _pareto_normal(p: Any, q: Any) -> Any:
    part = p.scale / (p.alpha - 1)
    found = -p.entropy() + _normal_cross(q, p.alpha * part, p.alpha * part.pow(2) / (p.alpha - 2))
    return found.masked_fill(p.alpha <= 2, math.inf)


def _log_mean(p: Any, low: Any, high: Any) -> Any:
    """The mean of log(x) for x between two numbers."""
    width = p.high - p.low
    return (ops.xlogy(high, high) - ops.xlogy(low, low) - width) / width


@register_kl(Uniform, Beta)
def _uniform_beta(p: Any, q: Any) -> Any:
    a, b = q.concentration1, q.concentration0
    powers = (a - 1) * _log_mean(p, p.low, p.high) + (b - 1) * _log_mean(p, 1 - p.high, 1 - p.low)
    found = -p.entropy() - powers + a.lgamma() + b.lgamma() - (a + b).lgamma()
    return found.masked_fill((p.high > 1) | (p.low < 0), math.inf)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Any, q: Any) -> Any:
    return _to_exponential(p, q).masked_fill(p.low < 0, math.inf)


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Any, q: Any) -> Any:
    found = -p.entropy() + _gamma_cross(q, p.mean, _log_mean(p, p.low, p.high))
    return found.masked_fill(p.low < 0, math.inf)


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p: Any, q: Any) -> Any:
    ratio = q.scale / (p.high - p.low)
    high, low = (p.high - q.loc) / q.scale, (p.low - q.loc) / q.scale
    return ratio.log() + 0.5 * (high + low) - ratio * (ops.exp(-high) - ops.exp(-low))


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Any, q: Any) -> Any:
    size = q.alpha.log() + q.alpha * q.scale.log()
    found = -p.entropy() - size + (q.alpha + 1) * _log_mean(p, p.low, p.high)
    return found.masked_fill(p.low < q.scale, math.inf)
