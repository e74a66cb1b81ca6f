"""Batched matrix factorisations over an array namespace, beyond the namespace's own `linalg`.

Where a factorisation can break down, its kernel also returns LAPACK's ``info``: for each matrix 0, or the
number of the pivot or leading minor that failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


class LinAlgError(RuntimeError):
    """A matrix cannot be factorised or inverted (torch.linalg.LinAlgError)."""


LinAlgError.__name__ = "_LinAlgError"


def turned(xp: Any, a: Any) -> Any:
    """The transpose of each matrix of a batch."""
    return xp.swapaxes(a, -1, -2)


def adjoint(xp: Any, a: Any) -> Any:
    """The conjugate transpose of each matrix of a batch."""
    return xp.conjugate(turned(xp, a))


def lu(xp: Any, a: Any) -> tuple[Any, Any, Any]:
    """L and U in one matrix, U with the diagonal; the row swapped with each row, from 1; info."""
    m, n = a.shape[-2:]
    batch, k = a.shape[:-2], min(m, n)
    out = a.copy()
    pivots = xp.zeros((*batch, k), np.int32)
    info = xp.zeros(batch, np.int32)
    for j in range(k):
        column = out[..., j:, j]
        size = xp.abs(column.real) + xp.abs(column.imag) if out.dtype.kind == "c" else xp.abs(column)
        at = xp.argmax(size, axis=-1) + j
        pivots[..., j] = at + 1
        index = xp.broadcast_to(xp.expand_dims(at, (-1, -2)), (*batch, 1, n))
        top = out[..., j : j + 1, :].copy()
        out[..., j : j + 1, :] = xp.take_along_axis(out, index, axis=-2)
        xp.put_along_axis(out, index, top, axis=-2)
        pivot = out[..., j, j]
        zero = pivot == 0
        info = xp.where((info == 0) & zero, j + 1, info)
        out[..., j + 1 :, j] /= xp.where(zero, 1, pivot)[..., None]
        out[..., j + 1 :, j + 1 :] -= out[..., j + 1 :, j : j + 1] * out[..., j : j + 1, j + 1 :]
    return out, pivots, info.astype(np.int32)


def order(xp: Any, pivots: Any, rows: int) -> Any:
    """The row order that the swaps produce."""
    batch = pivots.shape[:-1]
    found = xp.broadcast_to(xp.arange(rows), (*batch, rows)).copy()
    for j in range(pivots.shape[-1]):
        index = pivots[..., j : j + 1].astype(np.int64) - 1
        kept = found[..., j : j + 1].copy()
        found[..., j : j + 1] = xp.take_along_axis(found, index, axis=-1)
        xp.put_along_axis(found, index, kept, axis=-1)
    return found


def permutation(xp: Any, pivots: Any, rows: int, dtype: Any) -> Any:
    """The matrix P with A = P L U."""
    at = order(xp, pivots, rows)
    return turned(xp, (at[..., :, None] == xp.arange(rows)).astype(dtype))


def _guarded(xp: Any, run: Callable[..., Any], a: Any, *rest: Any) -> tuple[Any, Any]:
    """Call ``run`` on a batch; return the result, nan for matrices with a zero pivot, and info."""
    batch = a.shape[:-2]
    if xp is np:
        try:
            return run(a, *rest), np.zeros(batch, np.int32)
        except np.linalg.LinAlgError:
            info = lu(np, a)[2]
    else:
        info = lu(xp, a)[2]
    singular = info != 0
    mended = xp.where(singular[..., None, None], xp.eye(a.shape[-1], dtype=a.dtype), a)
    found = run(mended, *rest)
    return xp.where(singular[..., None, None], found.dtype.type(float("nan")), found), info


def inverse(xp: Any, a: Any) -> tuple[Any, Any]:
    """The inverses of square matrices, and info."""
    return _guarded(xp, xp.linalg.inv, a)


def solve(xp: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """X of ``a X = b``, and info for each matrix of `a`."""
    shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    found, info = _guarded(xp, xp.linalg.solve, xp.broadcast_to(a, (*shape, *a.shape[-2:])), b)
    some = tuple(slice(None) if n == m else 0 for n, m in _aligned(a.shape[:-2], info.shape))
    lead = info.ndim - (a.ndim - 2)
    return found, info[(0,) * lead + some] if a.ndim > 2 else info.reshape(-1)[:1].reshape(())


def _aligned(small: Any, large: Any) -> Any:
    return zip(small, large[len(large) - len(small) :], strict=True)


def _lower(xp: Any, a: Any, b: Any, unit: bool) -> Any:
    n = a.shape[-1]
    if n <= 1:
        return b if unit or not n else b / a
    h = n // 2
    top = _lower(xp, a[..., :h, :h], b[..., :h, :], unit)
    rest = b[..., h:, :] - xp.matmul(a[..., h:, :h], top)
    return xp.concatenate([top, _lower(xp, a[..., h:, h:], rest, unit)], axis=-2)


def solve_triangular(xp: Any, a: Any, b: Any, upper: bool, left: bool, unit: bool) -> Any:
    """X of ``a X = b`` (or ``X a = b``), by recursive halving; only the named triangle of `a` is read."""
    shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    b = xp.broadcast_to(b, (*shape, *b.shape[-2:]))
    a = xp.broadcast_to(a, (*shape, *a.shape[-2:]))
    if not left:
        return turned(xp, solve_triangular(xp, turned(xp, a), turned(xp, b), not upper, True, unit))
    if upper:
        found = _lower(xp, a[..., ::-1, ::-1], b[..., ::-1, :], unit)
        return found[..., ::-1, :]
    return _lower(xp, a, b, unit)


def lu_solve(xp: Any, packed: Any, pivots: Any, b: Any, left: bool, adjoint_: bool) -> Any:
    """X of ``A X = b``, for an A factorised by `lu`."""
    if not left:
        # X A = B is A^H X^H = B^H
        found = lu_solve(xp, packed, pivots, adjoint(xp, b), True, not adjoint_)
        return adjoint(xp, found)
    at = order(xp, pivots, packed.shape[-1])
    if adjoint_:
        y = solve_triangular(xp, adjoint(xp, packed), b, False, True, False)
        y = solve_triangular(xp, adjoint(xp, packed), y, True, True, True)
        at = xp.argsort(at, axis=-1)
    else:
        y = b
    batch = np.broadcast_shapes(at.shape[:-1], y.shape[:-2])
    index = xp.broadcast_to(at[..., None], (*batch, *y.shape[-2:]))
    y = xp.take_along_axis(xp.broadcast_to(y, (*batch, *y.shape[-2:])), index, axis=-2)
    if adjoint_:
        return y
    y = solve_triangular(xp, packed, y, False, True, True)
    return solve_triangular(xp, packed, y, True, True, False)


def cholesky(xp: Any, a: Any, upper: bool) -> tuple[Any, Any]:
    """L of ``a = L L^H`` (or U of ``U^H U``) from one triangle of `a`, and info."""
    source = adjoint(xp, xp.triu(a)) if upper else a
    found, info = None, xp.zeros(a.shape[:-2], np.int32)
    if xp is np:
        try:
            found = np.linalg.cholesky(source)
        except np.linalg.LinAlgError:
            found = None
    if found is None:
        found, info = _cholesky(xp, source)
    return (adjoint(xp, found) if upper else found), info


def _cholesky(xp: Any, a: Any) -> tuple[Any, Any]:
    out = xp.tril(a)
    info = xp.zeros(a.shape[:-2], np.int32)
    for j in range(a.shape[-1]):
        done = out[..., j : j + 1, :j]
        pivot = out[..., j, j].real - (xp.abs(done) ** 2).sum(axis=-1)[..., 0]
        info = xp.where((info == 0) & ~(pivot > 0), j + 1, info)
        runs = info == 0
        root = xp.sqrt(xp.where(runs, pivot, 1))
        out[..., j, j] = xp.where(runs, root, out[..., j, j])
        below = (out[..., j + 1 :, j] - xp.matmul(out[..., j + 1 :, :j], adjoint(xp, done))[..., 0]) / root[
            ..., None
        ]
        out[..., j + 1 :, j] = xp.where(runs[..., None], below, out[..., j + 1 :, j])
    return out, info.astype(np.int32)


#: the coefficients of the Padé approximant of order 13
_PADE = (
    64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
    10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1,
)  # fmt: skip


def matrix_exp(xp: Any, a: Any) -> Any:
    """The exponentials of square matrices, by scaling and squaring with a Padé approximant of order 13."""
    n = a.shape[-1]
    if not a.size:
        return a.copy()
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    x = a.astype(wide)
    norm = float(xp.max(xp.sum(xp.abs(x), axis=-2)))
    times = max(0, int(np.ceil(np.log2(norm / 5.37)))) if np.isfinite(norm) and norm > 0 else 0
    x = x / 2.0**times
    b, eye = _PADE, xp.eye(n, dtype=wide)
    x2 = xp.matmul(x, x)
    x4 = xp.matmul(x2, x2)
    x6 = xp.matmul(x4, x2)
    odd = xp.matmul(x6, b[13] * x6 + b[11] * x4 + b[9] * x2) + b[7] * x6 + b[5] * x4 + b[3] * x2 + b[1] * eye
    u = xp.matmul(x, odd)
    v = xp.matmul(x6, b[12] * x6 + b[10] * x4 + b[8] * x2) + b[6] * x6 + b[4] * x4 + b[2] * x2 + b[0] * eye
    out = xp.linalg.solve(v - u, v + u)
    for _ in range(times):
        out = xp.matmul(out, out)
    return out.astype(a.dtype)


def svd(xp: Any, a: Any, full_matrices: bool = False) -> tuple[Any, Any, Any]:
    """U, S and Vh of each matrix; LinAlgError if a value is not finite or the algorithm does not converge."""
    # LAPACK's divide and conquer may never end on an infinity.
    if not bool(xp.isfinite(a).all()):
        raise LinAlgError(
            "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite "
            "values."
        )
    try:
        u, s, vh = xp.linalg.svd(a, full_matrices=full_matrices)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "linalg.svd: The algorithm failed to converge because the input matrix is ill-conditioned or has "
            "too many repeated singular values."
        ) from None
    return u, s, vh


def eigh(xp: Any, a: Any, uplo: str = "L") -> tuple[Any, Any]:
    """Eigenvalues and eigenvectors of Hermitian matrices; only one triangle is read."""
    try:
        values, vectors = xp.linalg.eigh(a, uplo)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "linalg.eigh: The algorithm failed to converge because the input matrix is ill-conditioned or "
            "has too many repeated eigenvalues."
        ) from None
    return values, vectors


def pinv(xp: Any, a: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    """The pseudo-inverse; singular values up to ``max(atol, rtol * the largest)`` count as 0."""
    if not a.size:
        return xp.zeros((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype)
    if hermitian:
        s, v = eigh(xp, a)
        left, right = v, adjoint(xp, v)
    else:
        u, s, vh = svd(xp, a)
        left, right = adjoint(xp, vh), adjoint(xp, u)
    size = xp.abs(s)
    largest = size.max(axis=-1, keepdims=True)
    bound = xp.maximum(xp.expand_dims(xp.asarray(atol), -1), xp.expand_dims(xp.asarray(rtol), -1) * largest)
    kept = size > bound
    scale = xp.where(kept, 1 / xp.where(kept, s, 1), 0)
    return xp.matmul(left * scale[..., None, :], right)
