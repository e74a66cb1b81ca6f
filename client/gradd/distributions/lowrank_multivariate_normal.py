"""The multivariate normal distribution of low rank (torch.distributions.lowrank_multivariate_normal)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from .. import _top as ops
from . import constraints
from .distribution import Distribution
from .multivariate_normal import _batch_mahalanobis, _batch_mv, _factor, _log_diagonal
from .utils import lazy_property, linalg, standard_normal

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LowRankMultivariateNormal"]


def _plus_eye(matrix: Any) -> Any:
    return matrix + ops.diag_embed(ops.ones_like(matrix.diagonal(dim1=-2, dim2=-1)))


class LowRankMultivariateNormal(Distribution):
    """The normal distribution over vectors with covariance W @ W.T + D: its density takes m^2 n operations.

    W is `cov_factor` [..., n, m], D the diagonal `cov_diag` [..., n]. ValueError for shapes that do not fit.

    Source: https://pytorch.org/docs/stable/distributions.html#lowrankmultivariatenormal
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None) -> None:
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = loc.shape[-1:]
        if cov_factor.ndim < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, with optional leading batch dimensions"
            )
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event[0]} x m")
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        try:
            batch = ops.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, "
                f"cov_diag {cov_diag.shape}"
            ) from error
        self.loc, self.cov_diag = loc.expand((*batch, -1)), cov_diag.expand((*batch, -1))
        self.cov_factor = cov_factor.expand((*batch, -1, -1))
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        super().__init__(batch, event, validate_args=validate_args)
        scaled = cov_factor.mT / cov_diag.unsqueeze(-2)
        self._capacitance_tril = _factor(_plus_eye(ops.matmul(scaled, cov_factor)), self._validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        for name in ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril"):
            setattr(new, name, getattr(self, name))
        return new

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @lazy_property
    def variance(self) -> Any:
        """The diagonal of the covariance matrix."""
        found = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return found.expand(self._batch_shape + self._event_shape)

    def _of_batch(self, matrix: Any) -> Any:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower triangular factor of the covariance matrix."""
        # The diagonal taken out on both sides, what is left has no eigenvalue below 1.
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        return self._of_batch(root * _factor(_plus_eye(ops.matmul(scaled, scaled.mT)), self._validate_args))

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance matrix."""
        w = self._unbroadcasted_cov_factor
        return self._of_batch(ops.matmul(w, w.mT) + self._unbroadcasted_cov_diag.diag_embed())

    def _whitened_factor(self) -> Any:
        """The inverse of the capacitance's factor times W.T / D, [..., m, n]."""
        scaled = self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)
        return linalg["solve_triangular"](self._capacitance_tril, scaled, upper=False)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance matrix, by Woodbury's identity."""
        a = self._whitened_factor()
        inverse = self._unbroadcasted_cov_diag.reciprocal().diag_embed()
        return self._of_batch(inverse - ops.matmul(a.mT, a))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        of_factor = standard_normal(self.cov_factor[..., 0, :], (*shape[:-1], self.cov_factor.shape[-1]))
        of_diag = standard_normal(self.loc, shape)
        spread = self._unbroadcasted_cov_diag.sqrt() * of_diag
        return self.loc + _batch_mv(self._unbroadcasted_cov_factor, of_factor) + spread

    def _log_det(self) -> Any:
        """The logarithm of the covariance's determinant, by the matrix determinant lemma."""
        return 2 * _log_diagonal(self._capacitance_tril) + self._unbroadcasted_cov_diag.log().sum(-1)

    def _distance(self, x: Any) -> Any:
        """The squared Mahalanobis length of [..., n]."""
        scaled = self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)
        along = _batch_mahalanobis(self._capacitance_tril, _batch_mv(scaled, x))
        return (x.pow(2) / self._unbroadcasted_cov_diag).sum(-1) - along

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        size = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (size + self._log_det() + self._distance(value - self.loc))

    def entropy(self) -> Any:
        found = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det())
        return found.expand(self._batch_shape) if self._batch_shape else found
