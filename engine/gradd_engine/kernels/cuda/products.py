"""Products of matrices by cuBLAS in their operands' dtype: of 16-bit numbers on tensor cores, as they are.

They are added up in float32, those of float64 in float64, and rounded once. Views are transposed by flags
where one of their dimensions has neighbours. What cuBLAS cannot do, and all where it is not there, is done by
CuPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data import state
from . import cublas
from .cublas import GemmOperand
from .launch import empty, kind

#: sizes that cuBLAS takes
MOST = (1 << 31) - 1


def ready(xp: Any) -> None:
    """Have all that products need on the current stream before it is captured."""
    cublas.handle(xp)


def matmul(xp: Any, a: Any, b: Any, out: Any = None) -> Any:
    """``a @ b`` of two matrices or two batches, or of a matrix and a vector; into `out` where it is given."""
    found = product(xp, a, b, out)
    return xp.matmul(a, b, out=out) if found is None else found


def product(
    xp: Any, a: Any, b: Any, out: Any = None, added: Any = None, alpha: float = 1.0, beta: float = 0.0
) -> Any:
    """``alpha * a @ b + beta * added``, see `matmul`; None where it is left to CuPy."""
    precision = cublas.PRECISIONS.get(kind(a))
    if precision is None or b.dtype != a.dtype or alpha == 0:
        return None
    blas = cublas.handle(xp)
    if blas is None:
        return None
    if state.tf32 and precision is cublas.PRECISIONS["f"]:
        precision = cublas.TF32
    (*batch, m, k), vector = a.shape, b.ndim == 1
    if out is None:
        out = empty(xp, (*batch, m) if vector else (*batch, m, b.shape[-1]), a.dtype)
    if beta:
        out[...] = added
    if not k:
        out[...] = out * out.dtype.type(beta) if beta else 0
    if not k or not out.size:
        return out
    # By columns, the memory of rows is their transpose: the operands change places.
    first, second = _read(xp, b[:, None] if vector else b), _read(xp, a)
    whole = _operand(out[:, None] if vector else out)
    sizes = (1 if vector else b.shape[-1], m, k)
    if whole is None or whole.turned or max(*sizes, *batch, first.lead, second.lead, whole.lead) > MOST:
        return None
    count = batch[0] if batch else None
    done = blas.multiply(precision, sizes, count, alpha, first, second, beta, whole)
    return out if done else None


def _read(xp: Any, a: Any) -> GemmOperand:
    """How cuBLAS can read an array, or a copy of it."""
    found = _operand(a)
    if found is None:
        found = _operand(xp.ascontiguousarray(a))
        assert found is not None
    return found


def _operand(a: Any) -> GemmOperand | None:
    """How cuBLAS takes the memory of a matrix or a batch; None if neither its rows nor its columns have
    neighbours, or they overlap.
    """
    rows, columns = a.shape[-2:]
    *steps, down, along = (s // a.itemsize for s in a.strides)
    step = steps[0] if steps and a.shape[0] > 1 else 0
    lines = (0, rows, down, columns, along), (1, columns, along, rows, down)
    for turned, many, far, length, near in lines:
        if (near == 1 or length == 1) and (far >= length or many == 1) and step >= 0:
            return GemmOperand(a, a.data.ptr, turned, far if many > 1 else length, step)
    return None


def _wide(a: Any) -> Any:
    return a.astype(np.float32) if a.itemsize == 2 else a


def _product(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, b: Any) -> Any:
        found = product(xp, a, b)
        return plain(xp, _wide(a), _wide(b)) if found is None else found

    return kernel


def _sum(plain: Any) -> Any:
    def kernel(xp: Any, c: Any, a: Any, b: Any, beta: Any, alpha: Any) -> Any:
        numbers = isinstance(beta, (int, float)) and isinstance(alpha, (int, float))
        found = product(xp, a, b, None, c, float(alpha), float(beta)) if numbers else None
        return plain(xp, _wide(c), _wide(a), _wide(b), beta, alpha) if found is None else found

    return kernel


NATIVE = {
    "addmm": _sum, "addmv": _sum, "baddbmm": _sum, "bmm": _product, "mm": _product, "mv": _product,
}  # fmt: skip
#: they take 16-bit numbers as they are
NARROW = frozenset(NATIVE)
