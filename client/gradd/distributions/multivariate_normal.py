"""The multivariate normal distribution (torch.distributions.multivariate_normal)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from .. import _top as ops
from . import constraints
from .distribution import Distribution
from .utils import lazy_property, linalg, standard_normal

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MultivariateNormal"]


def _batch_mv(matrix: Any, vector: Any) -> Any:
    """Matrices [..., n, n] times vectors [..., n], broadcast."""
    return ops.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(tril: Any, x: Any) -> Any:
    """The squared length of the solutions y of tril @ y = x: [...] of [..., n, n] and [..., n], broadcast.

    One matrix for many vectors is solved for all of them at once.
    """
    if tril.ndim == 2:
        columns = x.reshape(-1, x.shape[-1]).T
        found = linalg["solve_triangular"](tril, columns, upper=False).pow(2).sum(0)
        return found.reshape(x.shape[:-1])
    return linalg["solve_triangular"](tril, x.unsqueeze(-1), upper=False).pow(2).sum((-2, -1))


def _factor(matrix: Any, checked: bool) -> Any:
    """The lower triangular factor. `cholesky` waits to learn whether there is one, which is of no use where
    the matrix is `checked` anyway.
    """
    return linalg["cholesky_ex"](matrix).L if checked else linalg["cholesky"](matrix)


def _precision_to_scale_tril(precision: Any, checked: bool = False) -> Any:
    """The lower triangular factor of the inverse: a factor of the matrix turned around, inverted."""
    turned = _factor(ops.flip(precision, (-2, -1)), checked)
    upper = ops.flip(turned, (-2, -1)).mT
    eye = ops.diag_embed(ops.ones_like(upper.diagonal(dim1=-2, dim2=-1)))
    return linalg["solve_triangular"](upper, eye, upper=False)


def _log_diagonal(tril: Any) -> Any:
    """The logarithm of the determinants of triangular matrices."""
    return tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)


class MultivariateNormal(Distribution):
    """The normal distribution over vectors.

    `loc` is the mean [..., n]; one of `covariance_matrix`, its inverse `precision_matrix`, or its lower
    triangular factor `scale_tril` [..., n, n]. ValueError for none or several, or for too few dimensions.

    Source: https://pytorch.org/docs/stable/distributions.html#multivariatenormal
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        matrices = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = [name for name, matrix in matrices.items() if matrix is not None]
        if len(given) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
            )
        (name,) = given
        matrix = matrices[name]
        if matrix.ndim < 2:
            what = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(
                f"{what} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch_shape = ops.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.__dict__[name] = matrix.expand((*batch_shape, -1, -1))
        self.loc = loc.expand((*batch_shape, -1))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        #: the factor without the batch dimensions that the mean adds
        self._unbroadcasted_scale_tril = (
            matrix
            if name == "scale_tril"
            else _factor(matrix, self._validate_args)
            if name == "covariance_matrix"
            else _precision_to_scale_tril(matrix, self._validate_args)
        )

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        return new

    def _of_batch(self, matrix: Any) -> Any:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower triangular factor of the covariance matrix."""
        return self._of_batch(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance matrix."""
        tril = self._unbroadcasted_scale_tril
        return self._of_batch(ops.matmul(tril, tril.mT))

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance matrix."""
        return self._of_batch(ops.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        found = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return found.expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        noise = standard_normal(self.loc, self._extended_shape(sample_shape))
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, noise)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        distance = _batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        n = self._event_shape[0]
        return -0.5 * (n * math.log(2 * math.pi) + distance) - _log_diagonal(self._unbroadcasted_scale_tril)

    def entropy(self) -> Any:
        half = 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi))
        found = half + _log_diagonal(self._unbroadcasted_scale_tril)
        return found.expand(self._batch_shape) if self._batch_shape else found
