"""Divergences between multivariate normal distributions, of full and of low rank."""

from __future__ import annotations

from typing import Any

from .. import _top as ops
from .kl import register_kl
from .lowrank_multivariate_normal import LowRankMultivariateNormal
from .multivariate_normal import MultivariateNormal, _batch_mahalanobis, _log_diagonal
from .utils import linalg


def _same_event(p: Any, q: Any, what: str) -> None:
    if p.event_shape != q.event_shape:
        between = " " * 26  # as PyTorch's message has it
        raise ValueError(
            f"KL-divergence between two {what}Multivariate Normals with{between}different event shapes "
            "cannot be computed"
        )


def _squares(matrix: Any) -> Any:
    """The sum of the squares of matrices' elements."""
    return matrix.pow(2).sum((-2, -1))


def _solved(tril: Any, matrix: Any) -> Any:
    return linalg["solve_triangular"](tril, matrix, upper=False)


@register_kl(MultivariateNormal, MultivariateNormal)
def _full(p: Any, q: Any) -> Any:
    _same_event(p, q, "")
    ours, theirs = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    halves = _log_diagonal(theirs) - _log_diagonal(ours)
    spread = _squares(_solved(theirs, ours))
    distance = _batch_mahalanobis(theirs, q.loc - p.loc)
    return halves + 0.5 * (spread + distance - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _low(p: Any, q: Any) -> Any:
    _same_event(p, q, "Low Rank ")
    ours, own = p._unbroadcasted_cov_factor, p._unbroadcasted_cov_diag
    # The trace of q's precision, 1 / D - A.T @ A, times p's covariance.
    diag, a = q._unbroadcasted_cov_diag, q._whitened_factor()
    spread = (
        (own / diag).sum(-1)
        + _squares(ours * diag.rsqrt().unsqueeze(-1))
        - _squares(a * own.sqrt().unsqueeze(-2))
        - _squares(ops.matmul(a, ours))
    )
    return 0.5 * (q._log_det() - p._log_det() + spread + q._distance(q.loc - p.loc) - p.event_shape[0])


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _full_low(p: Any, q: Any) -> Any:
    _same_event(p, q, "(Low Rank) ")
    tril, a = p._unbroadcasted_scale_tril, q._whitened_factor()
    spread = _squares(tril * q._unbroadcasted_cov_diag.rsqrt().unsqueeze(-1)) - _squares(ops.matmul(a, tril))
    sizes = q._log_det() - 2 * _log_diagonal(tril)
    return 0.5 * (sizes + spread + q._distance(q.loc - p.loc) - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _low_full(p: Any, q: Any) -> Any:
    _same_event(p, q, "(Low Rank) ")
    tril = q._unbroadcasted_scale_tril
    diag = p._unbroadcasted_cov_diag.sqrt().diag_embed()
    spread = _squares(_solved(tril, p._unbroadcasted_cov_factor)) + _squares(_solved(tril, diag))
    sizes = 2 * _log_diagonal(tril) - p._log_det()
    distance = _batch_mahalanobis(tril, q.loc - p.loc)
    return 0.5 * (sizes + spread + distance - p.event_shape[0])
