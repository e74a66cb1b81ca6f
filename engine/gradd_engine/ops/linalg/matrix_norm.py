"""Matrix norms and condition numbers (https://pytorch.org/docs/stable/generated/torch.linalg.norm.html)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...data import dtypes, wrap_dim, wrap_dims
from ...declare import composite, public
from ...tensor import Tensor
from ..elementwise import nan_to_num
from ..reduce import sum, vector_norm
from ..shape import permute, squeeze_dim, to_dtype, unsqueeze
from .linalg_common import floating, matrices, square
from .solve import inv_ex
from .svd import svdvals

if TYPE_CHECKING:
    from ...data import DType

_NAME = "linalg.matrix_norm"


def _convertible(A: Tensor, dtype: DType | None) -> None:
    if dtype is None:
        return
    if dtype.category < dtypes.FLOAT:
        raise RuntimeError(f"{_NAME}: dtype should be floating point or complex, but got {dtype.title}")
    if A.dtype.is_complex != dtype.is_complex:
        kind = "complex" if A.dtype.is_complex else "real"
        raise RuntimeError(f"{_NAME}: dtype should be {kind} for {kind} inputs, but got {dtype.title}")
    if dtypes.promote(A.dtype, dtype) is not dtype:
        raise RuntimeError(
            f"{_NAME}: the dtype of the input ({A.dtype.title}) should be convertible without narrowing to "
            f"the specified dtype ({dtype.title})"
        )


def _dims(A: Tensor, dim: Any) -> tuple[int, int]:
    matrices(A, _NAME)
    dim = [dim] if isinstance(dim, int) else list(dim)
    if len(dim) != 2:
        raise RuntimeError(f"{_NAME}: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    rows, cols = wrap_dim(dim[0], A.ndim), wrap_dim(dim[1], A.ndim)
    if rows == cols:
        raise RuntimeError(f"{_NAME}: dims must be different. Got ({dim[0]}, {dim[1]})")
    return rows, cols


def _spectral(A: Any, ord: Any, rows: int, cols: int, keepdim: bool) -> Any:
    rest = [d for d in range(A.ndim) if d not in (rows, cols)]
    moved = permute(A, [*rest, rows, cols])
    values = svdvals(moved)
    if ord == "nuc":
        out = sum(values, -1, keepdim)
    else:
        out = values.amax(-1, keepdim) if ord > 0 else values.amin(-1, keepdim)
    if not keepdim:
        return out
    back = sorted(range(A.ndim), key=[*rest, rows, cols].__getitem__)
    return permute(unsqueeze(out, -1), back)


def _matrix_norm(A: Tensor, ord: Any, dim: Any, keepdim: bool, dtype: DType | None) -> Any:
    floating(A, _NAME, low=True)
    if isinstance(ord, str):
        if ord not in ("fro", "nuc"):
            raise RuntimeError(f"{_NAME}: Order {ord} not supported.")
    elif abs(ord) not in (1, 2, math.inf):
        raise RuntimeError(f"{_NAME}: Order {ord} not supported.")
    rows, cols = _dims(A, dim)
    _convertible(A, dtype)
    if ord == "fro":
        return vector_norm(A, 2, [rows, cols], keepdim, dtype=dtype)
    x: Any = A if dtype is None else to_dtype(A, dtype)
    if ord == "nuc" or abs(ord) == 2:
        return _spectral(x, ord, rows, cols, keepdim)
    first, second = (rows, cols) if abs(ord) == 1 else (cols, rows)
    if not keepdim and first < second:
        second -= 1
    sums = vector_norm(x, 1, [first], keepdim)
    return sums.amax(second, keepdim) if ord > 0 else sums.amin(second, keepdim)


_matrix_norm_op = composite(
    "linalg_matrix_norm(Tensor A, any ord='fro', int[] dim=[-2, -1], bool keepdim=False, *, "
    "dtype? dtype=None) -> Tensor",
    body=_matrix_norm,
    inline=True,
    namespace="-",
    outside=True,
    doc="Matrix norms: fro, nuc, inf, -inf, 1, -1, 2, -2 (torch.linalg.matrix_norm).",
    autocast={"cuda": "float32 result"},
)


@public("linalg", out=True)
def matrix_norm(
    A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: DType | None = None
) -> Any:
    """See torch.linalg.matrix_norm."""
    return _matrix_norm_op(A, ord, dim, keepdim, dtype=dtype)


def _norm(A: Tensor, ord: Any, dim: Any, keepdim: bool, dtype: DType | None) -> Any:
    over = None if dim is None else [dim] if isinstance(dim, int) else list(dim)
    if over is not None and len(over) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {over}")
    if over is None and ord is not None and A.ndim not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.ndim}D."
        )
    if isinstance(ord, str):
        return matrix_norm(A, ord, [-2, -1] if over is None else over, keepdim, dtype=dtype)
    if ord is not None and ((over is not None and len(over) == 2) or (over is None and A.ndim == 2)):
        return matrix_norm(A, ord, [0, 1] if over is None else over, keepdim, dtype=dtype)
    return vector_norm(A, 2 if ord is None else ord, over, keepdim, dtype=dtype)


_norm_op = composite(
    "linalg_norm(Tensor A, any ord=None, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None)"
    " -> Tensor",
    body=_norm,
    inline=True,
    namespace="-",
    outside=True,
    doc="Vector or matrix norms, by `ord` and `dim` (torch.linalg.norm).",
)


@public("linalg", out=True)
def norm(
    A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Any:
    """See torch.linalg.norm."""
    return _norm_op(A, ord, dim, keepdim, dtype=dtype)


@public(name="norm", method=True, out=True, numpy_names=False)
def old_norm(
    input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Any:
    """See torch.norm: vector norms over any dimensions, and matrix norms given by name."""
    if p is None or (p == "fro" and (dim is None or isinstance(dim, int) or len(dim) <= 2)):
        return vector_norm(input, 2, dim, keepdim, dtype=dtype)
    if isinstance(p, str):
        over = list(range(input.ndim)) if dim is None else dim
        return matrix_norm(input, p, over, keepdim, dtype=dtype)
    return vector_norm(input, p, dim, keepdim, dtype=dtype)


@public(name="frobenius_norm")
def frobenius_norm(input: Tensor, dim: Any = (), keepdim: bool = False) -> Any:
    """The 2-norm over one or two dimensions (torch.frobenius_norm)."""
    return vector_norm(input, 2, list(wrap_dims(dim, input.ndim)), keepdim)


@public(
    name="nuclear_norm",
    forms=("(input, keepdim: bool = False) -> Tensor", "(input, dim, keepdim=False) -> Tensor"),
)
def nuclear_norm(input: Tensor, dim: Any = (-2, -1), keepdim: bool = False) -> Any:
    """The sum of singular values (torch.nuclear_norm)."""
    if isinstance(dim, bool):
        dim, keepdim = (-2, -1), dim
    return matrix_norm(input, "nuc", dim, keepdim)


def _cond(A: Tensor, p: Any) -> Any:
    if A.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if isinstance(p, str):
        if p not in ("fro", "nuc"):
            raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    elif p is not None and abs(p) not in (1, 2, math.inf):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if p in (None, 2, -2):
        values = svdvals(A)
        first, last = values.narrow(-1, 0, 1), values.narrow(-1, -1, 1)
        return squeeze_dim(last / first if p == -2 else first / last, -1)
    square(A, f"linalg.cond(ord={p})")
    inverse, _ = inv_ex(A)
    found = matrix_norm(A, p) * matrix_norm(inverse, p)
    return nan_to_num(found, float("inf"), float("inf"), float("-inf"))


cond = composite(
    "linalg_cond(Tensor A, any p=None) -> Tensor",
    body=_cond,
    inline=True,
    out=True,
    namespace="linalg",
    doc="Condition numbers of matrices in a norm (torch.linalg.cond).",
    autocast={"cpu": "float32"},
)
