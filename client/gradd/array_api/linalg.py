"""The standard's extension for linear algebra.

https://data-apis.org/array-api/latest/extensions/linear_algebra_functions.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import gradd._top as ops
import gradd.linalg as _linalg

from ._elementwise import together
from ._manipulation import axes_of, count_of
from ._statistics import sum as _sum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_engine.data import DType

    from .._tensor import Tensor


class EighResult(NamedTuple):
    """The eigenvalues of a symmetric matrix, and its eigenvectors."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class EigResult(NamedTuple):
    """The eigenvalues of a matrix, and its eigenvectors; complex."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    """An orthonormal matrix and an upper triangular one."""

    Q: Tensor
    R: Tensor


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its absolute value."""

    sign: Tensor
    logabsdet: Tensor


class SVDResult(NamedTuple):
    """Singular vectors and values."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The product of matrices, or of stacks of them."""
    return ops.matmul(*together(x1, x2))


def matrix_transpose(x: Tensor, /) -> Tensor:
    """`x` with its last two axes exchanged."""
    return ops.transpose(x, -2, -1)


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Tensor:
    """Sums of products over axes of both arrays."""
    left, right = together(x1, x2)
    if axes == 0:
        return left.reshape([*left.shape, *[1] * right.ndim]) * right
    return ops.tensordot(left, right, axes if isinstance(axes, int) else [list(a) for a in axes])


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The products of vectors along an axis; those of `x1` are conjugated."""
    left, right = ops.broadcast_tensors(*together(x1, x2))
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot(): sizes {x1.shape[axis]} and {x2.shape[axis]} along axis {axis}")
    return ops.sum(left.conj() * right, axis, dtype=left.dtype)


def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    """The triangular factor of a positive definite matrix."""
    return _linalg.cholesky(x, upper=upper)


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The cross product of vectors of size 3."""
    return _linalg.cross(*together(x1, x2), dim=axis)


def det(x: Tensor, /) -> Tensor:
    """The determinant."""
    return _linalg.det(x)


def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """A diagonal of the last two axes."""
    return ops.diagonal(x, offset, -2, -1)


def eigh(x: Tensor, /) -> EighResult:
    """The eigenvalues of a symmetric matrix, and its eigenvectors."""
    return EighResult(*_linalg.eigh(x))


def eigvalsh(x: Tensor, /) -> Tensor:
    """The eigenvalues of a symmetric matrix."""
    return _linalg.eigvalsh(x)


def eig(x: Tensor, /) -> EigResult:
    """The eigenvalues of a matrix, and its eigenvectors."""
    return EigResult(*_linalg.eig(x))


def eigvals(x: Tensor, /) -> Tensor:
    """The eigenvalues of a matrix."""
    return _linalg.eigvals(x)


def inv(x: Tensor, /) -> Tensor:
    """The inverse."""
    return _linalg.inv(x)


def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """The norm of matrices."""
    return _linalg.matrix_norm(x, ord, (-2, -1), keepdims)


def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """A matrix to the power `n`."""
    return _linalg.matrix_power(x, n)


def matrix_rank(x: Tensor, /, *, rtol: Any = None) -> Tensor:
    """The number of singular values over `rtol` times the largest."""
    return _linalg.matrix_rank(x, rtol=rtol)


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The products of all elements of two vectors."""
    return ops.outer(*together(x1, x2))


def pinv(x: Tensor, /, *, rtol: Any = None) -> Tensor:
    """The pseudo-inverse."""
    return _linalg.pinv(x, rtol=rtol)


def qr(x: Tensor, /, *, mode: str = "reduced") -> QRResult:
    """The QR decomposition."""
    return QRResult(*_linalg.qr(x, mode))


def slogdet(x: Tensor, /) -> SlogdetResult:
    """The sign of the determinant, and the logarithm of its absolute value."""
    return SlogdetResult(*_linalg.slogdet(x))


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The solution of linear equations: `x2` is a vector if it has one axis, else matrices."""
    left, right = together(x1, x2)
    if right.ndim == 1:
        return _linalg.solve(left, right.reshape(-1, 1))[..., 0]
    shape = ops.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    return _linalg.solve(left, right.expand(*shape, *right.shape[-2:]))


def svd(x: Tensor, /, *, full_matrices: bool = True) -> SVDResult:
    """The singular value decomposition."""
    return SVDResult(*_linalg.svd(x, full_matrices))


def svdvals(x: Tensor, /) -> Tensor:
    """The singular values, in descending order."""
    return _linalg.svdvals(x)


def trace(x: Tensor, /, *, offset: int = 0, dtype: DType | None = None) -> Tensor:
    """The sum of a diagonal of the last two axes."""
    return _sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def vector_norm(
    x: Tensor, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False, ord: Any = 2
) -> Tensor:
    """The norm of the elements along axes, as one vector."""
    axes = axes_of(x, axis)
    if not axes:
        return (x != 0).to(x.dtype) if ord == 0 else ops.abs(x)
    if not count_of(x, axes):
        return _sum(ops.abs(x), axis=axes, keepdims=keepdims)
    return _linalg.vector_norm(x, ord, axes, keepdims)
