"""Transforms of vectors and matrices: to simplices, triangular factors, positive definite matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradd_engine.data import Size

from .. import _top as ops
from .._surface import finfo
from . import constraints
from ._transform import Transform
from .utils import functional, linalg, tril_matrix_to_vec, vec_to_tril_matrix

if TYPE_CHECKING:
    from collections.abc import Sequence


def _clipped_sigmoid(x: Any) -> Any:
    limits = finfo(x.dtype)
    return ops.clamp(ops.sigmoid(x), min=limits.tiny, max=1.0 - limits.eps)


def _eye_like(x: Any) -> Any:
    """Identities in the shape of square matrices."""
    return ops.diag_embed(ops.ones_like(x.diagonal(dim1=-2, dim2=-1)))


def _needs(shape: Sequence[int], n: int) -> None:
    if len(shape) < n:
        raise ValueError("Too few dimensions on input")


class _Plain(Transform):
    """A transform without arguments: two of a class are equal."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))

    __hash__ = None


class CorrCholeskyTransform(Transform):
    """Vectors of length n * (n - 1) / 2 to the factors [n, n] of correlation matrices.

    tanh puts each number between -1 and 1; a row then takes of what is left of length 1, number by number.
    Source: https://mc-stan.org/docs/reference-manual/transforms.html
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        eps = finfo(x.dtype).eps
        r = vec_to_tril_matrix(ops.tanh(x).clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - r**2).sqrt().cumprod(-1)
        return (r + _eye_like(r)) * functional["pad"](left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        left = functional["pad"]((1 - ops.cumsum(y * y, -1))[..., :-1], [1, 0], value=1)
        t = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        left = 1 - (y * y).cumsum(-1)
        # By the diagonal below, what is left before each number needs no shift.
        of_rows = 0.5 * tril_matrix_to_vec(left, diag=-2).log().sum(-1)
        of_tanh = -2 * (x + functional["softplus"](-2 * x) - math.log(2.0)).sum(-1)
        return of_rows + of_tanh

    def forward_shape(self, shape: Sequence[int]) -> Any:
        _needs(shape, 1)
        size = shape[-1]
        n = round((0.25 + 2 * size) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != size:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return Size((*shape[:-1], n, n))

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        _needs(shape, 2)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        n = shape[-1]
        return Size((*shape[:-2], n * (n - 1) // 2))


class SoftmaxTransform(_Plain):
    """Vectors to the simplex by softmax; the inverse is the logarithm. It is not bijective."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        return ops.softmax(x, -1)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Sequence[int]) -> Any:
        _needs(shape, 1)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(_Plain):
    """Vectors [n] to the simplex [n + 1]: each number says which share of what is left is broken off."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Any) -> Any:
        share = _clipped_sigmoid(x - _left_over(x).log())
        left = (1 - share).cumprod(-1)
        return functional["pad"](share, [0, 1], value=1) * functional["pad"](left, [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        broken = y[..., :-1]
        # It may round to below 0 where the last share is nearly 0.
        left = (1 - broken.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return broken.log() - left.log() + _left_over(broken).log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        x = x - _left_over(x).log()
        return (-x + functional["logsigmoid"](x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        _needs(shape, 1)
        return Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        _needs(shape, 1)
        return Size((*shape[:-1], shape[-1] - 1))


def _left_over(x: Any) -> Any:
    """How many parts are left at each number of [..., n]: n, n - 1, ..., 1."""
    return x.shape[-1] + 1 - x.new_ones(x.shape[-1:]).cumsum(-1)


class LowerCholeskyTransform(_Plain):
    """Matrices to lower triangular ones with a positive diagonal, by its exponentials."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_Plain):
    """Matrices to positive definite ones, which have the result of `LowerCholeskyTransform` as factor."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(linalg["cholesky"](y))
