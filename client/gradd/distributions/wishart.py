"""The Wishart distribution (torch.distributions.wishart)."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from gradd_engine.data import Size

from .. import _top as ops
from .._surface import finfo
from .._tensor import Tensor
from . import constraints
from ._checks import demand
from .chi2 import Chi2
from .exp_family import ExponentialFamily
from .multivariate_normal import _factor, _log_diagonal, _precision_to_scale_tril
from .utils import lazy_property, linalg, standard_normal

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Wishart"]


class Wishart(ExponentialFamily):
    """The distribution of the sum of `df` outer products of normal vectors, given by one of their covariance
    matrix, its inverse, or its triangular factor [..., n, n]. AssertionError for none or several; ValueError
    unless `df` is above n - 1.

    Draws are not checked for singular ones, which would be waited for.
    Source: https://pytorch.org/docs/stable/distributions.html#wishart
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        df: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        matrices = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = [name for name, matrix in matrices.items() if matrix is not None]
        if len(given) != 1:
            raise AssertionError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
            )
        (name,) = given
        matrix = matrices[name]
        if matrix.ndim < 2:
            raise ValueError(
                "scale_tril must be at least two-dimensional, with optional leading batch dimensions"
            )
        n = matrix.shape[-1]
        message = f" expected to be greater than ndim - 1 = {n - 1}."
        if isinstance(df, Tensor):
            batch = ops.broadcast_shapes(matrix.shape[:-2], df.shape)
            self.df = df.expand(batch)
            demand(self.df > n - 1, ["Value of df=", df, message], "")
        else:
            demand(df > n - 1, [f"Value of df={df}", message], "")
            batch, self.df = Size(matrix.shape[:-2]), matrix.new_full((), df)
            if df < n:
                warnings.warn(
                    "Low df values detected. Singular samples are highly likely to occur for "
                    "ndim - 1 < df < ndim.",
                    stacklevel=2,
                )
        self.__dict__[name] = matrix.expand((*batch, -1, -1))
        super().__init__(batch, matrix.shape[-2:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = (
            matrix
            if name == "scale_tril"
            else _factor(matrix, self._validate_args)
            if name == "covariance_matrix"
            else _precision_to_scale_tril(matrix, self._validate_args)
        )

    @property
    def arg_constraints(self) -> dict[str, Any]:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new.df = self.df.expand(batch_shape)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        return new

    def _of_batch(self, matrix: Any) -> Any:
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower triangular factor of the covariance matrix."""
        return self._of_batch(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance matrix of the vectors."""
        tril = self._unbroadcasted_scale_tril
        return self._of_batch(ops.matmul(tril, tril.mT))

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance matrix."""
        return self._of_batch(ops.cholesky_inverse(self._unbroadcasted_scale_tril))

    def _times(self, factor: Any) -> Any:
        """A factor for each matrix of the batch."""
        return factor.expand(self._batch_shape)[..., None, None]

    @property
    def mean(self) -> Any:
        return self._times(self.df) * self.covariance_matrix

    @property
    def mode(self) -> Any:
        factor = self.df - self._event_shape[-1] - 1
        return self._times(factor.masked_fill(factor <= 0, math.nan)) * self.covariance_matrix

    @property
    def variance(self) -> Any:
        matrix = self.covariance_matrix
        diagonal = matrix.diagonal(dim1=-2, dim2=-1)
        outer = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self._times(self.df) * (matrix.pow(2) + outer)

    def rsample(self, sample_shape: Sequence[int] = (), max_try_correction: Any = None) -> Any:
        """Bartlett's decomposition: a triangular factor of normal numbers below a diagonal of roots of
        chi-squared ones.
        """
        tril, n = self._unbroadcasted_scale_tril, self._event_shape[-1]
        df = self.df.expand(self._batch_shape).unsqueeze(-1) - ops.arange(n, dtype=tril.dtype)
        diagonal = Chi2(df, validate_args=False).rsample(sample_shape).sqrt()
        diagonal = diagonal.clamp(min=finfo(diagonal.dtype).eps)
        shape = self._extended_shape(sample_shape)
        noise = standard_normal(tril.detach(), shape).tril(-1) + diagonal.diag_embed()
        factor = ops.matmul(tril, noise)
        return ops.matmul(factor, factor.mT)

    def _log_normal(self) -> Any:
        return self._event_shape[-1] * math.log(2) / 2 + _log_diagonal(self._unbroadcasted_scale_tril)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        nu, p = self.df, self._event_shape[-1]
        solved = ops.cholesky_solve(value, self._unbroadcasted_scale_tril)
        trace = solved.diagonal(dim1=-2, dim2=-1).sum(-1)
        return (
            -nu * self._log_normal()
            - ops.mvlgamma(nu / 2, p)
            + (nu - p - 1) / 2 * linalg["slogdet"](value).logabsdet
            - trace / 2
        )

    def entropy(self) -> Any:
        nu, p = self.df, self._event_shape[-1]
        slope = ops.digamma(nu.unsqueeze(-1) / 2 - ops.arange(p, dtype=nu.dtype) / 2).sum(-1)
        found = (p + 1) * self._log_normal() + ops.mvlgamma(nu / 2, p)
        return found - (nu - p - 1) / 2 * slope + nu * p / 2

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, *natural_params: Any) -> Any:
        x, y = natural_params
        p = self._event_shape[-1]
        half = y + (p + 1) / 2
        size = math.log(2) * p - linalg["slogdet"](-2 * x).logabsdet
        return half * size + ops.mvlgamma(half, p)
