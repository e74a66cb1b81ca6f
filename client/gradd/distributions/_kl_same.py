"""Divergences within a family."""

from __future__ import annotations

import math
from typing import Any

from .. import _top as ops
from .bernoulli import Bernoulli
from .categorical import Categorical
from .independent import Independent
from .kl import kl_divergence, register_kl
from .multivariate_normal import MultivariateNormal, _batch_mahalanobis, _log_diagonal
from .normal import Normal
from .uniform import Uniform
from .utils import _sum_rightmost, functional, linalg


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    softplus = functional["softplus"]
    odds = p.logits - q.logits
    found = p.probs * odds + softplus(q.logits) - softplus(p.logits)
    # At a probability of 0 or 1 the logits are clamped, and only these are exact.
    found = ops.where(p.probs == 0, -ops.log1p(-q.probs), found)
    return ops.where(p.probs == 1, -ops.log(q.probs), found)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    terms = p.probs * (p.logits - q.logits)
    terms = ops.where(q.probs == 0, math.inf, terms)
    return ops.where(p.probs == 0, 0.0, terms).sum(-1)


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    found = ops.log((q.high - q.low) / (p.high - p.low))
    return found.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed"
        )
    ours, theirs = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    whitened = linalg["solve_triangular"](theirs, ours, upper=False).pow(2).sum((-2, -1))
    distance = _batch_mahalanobis(theirs, q.loc - p.loc)
    halves = _log_diagonal(theirs) - _log_diagonal(ours)
    return halves + 0.5 * (whitened + distance - p.event_shape[0])


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
