"""Functions of sparse tensors (torch.sparse), which are dense behind what they say.

Source: https://docs.pytorch.org/docs/stable/sparse.html
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gradd_engine.data import dtypes
from gradd_engine.schema import named

from .._surface import (
    CompressedTensor,
    SparseTensor,
    Specified,
    as_tensor,
    check_sparse_tensor_invariants,
    namespace,
    smm,
    sparse_coo_tensor,
    sspaddmm,
)
from .._surface import sparse as _sparse
from .._surface import sparse_coo as _sparse_coo
from .._tensor import Tensor

__all__ = [
    "BFloat16Tensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor",
    "LongTensor", "ShortTensor", "addmm", "check_sparse_tensor_invariants", "dsmm", "hsmm", "hspmm",
    "log_softmax", "mm", "saddmm", "sampled_addmm", "smm", "softmax", "spdiags", "spmm", "sspaddmm", "sum",
]  # fmt: skip


def mm(mat1: Any, mat2: Any, reduce: str | None = None) -> Any:
    """The product of two matrices, sparse where both are (torch.sparse.mm). With `reduce`, "sum", "mean",
    "amax" or "amin" of the products of what `mat1` specifies in a row, 0 where that is nothing. RuntimeError
    for another reduction.
    """
    if reduce in (None, "sum"):
        found = named.mm(_masked(mat1), mat2)
        both = isinstance(mat1, Specified) and isinstance(mat2, Specified)
        return mat1._with(found) if both else found
    if reduce == "prod":
        raise RuntimeError("sparse_mm_reduce: reduce type of prod has not been enabled.")
    if reduce not in ("mean", "amax", "amin"):
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if not isinstance(mat1, Specified):
        raise RuntimeError("sparse_mm_reduce: expect self to be a sparse matrix")
    rows, columns = _pairs(mat1)
    products = named.mul(mat1._at(mat1._where()).unsqueeze(-1), named.index_select(mat2, 0, columns))
    empty = namespace("")["zeros"]([mat1.shape[0], mat2.shape[1]], dtype=products.dtype)
    return named.index_reduce(empty, 0, rows, products, reduce, include_self=False)


def _pairs(matrix: Any) -> Any:
    """Rows and columns of what a matrix specifies, in the order of its values."""
    places = matrix._where()
    return matrix._subscript(places) if isinstance(matrix, CompressedTensor) else places[0].unbind(0)


def _masked(t: Any) -> Any:
    """A matrix of whose elements only those that are specified get gradients."""
    return t._masked() if isinstance(t, Specified) else t


def spmm(input: Tensor, mat2: Tensor) -> Any:
    """As `mm` (torch.spmm)."""
    return mm(input, mat2)


dsmm = hsmm = spmm


def hspmm(mat1: Any, mat2: Tensor) -> Any:
    """The product of a sparse and a dense matrix, its rows sparse (torch.hspmm)."""
    return _sparse(named.mm(mat1, mat2), 1)


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0) -> Any:
    """``beta * mat + alpha * mat1 @ mat2``, dense (torch.sparse.addmm)."""
    return named.addmm(mat, _masked(mat1), mat2, beta=beta, alpha=alpha)


saddmm = addmm


def sampled_addmm(
    input: Any, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0, out: Any = None
) -> Any:
    """``beta * input + alpha * mat1 @ mat2`` at the places of `input` alone, in its format
    (torch.sparse.sampled_addmm). RuntimeError for a dense `input`, and where sizes do not fit.
    """
    if not isinstance(input, CompressedTensor):
        raise RuntimeError(
            f"sampled_addmm: Expected self to have sparse csr layout, but got {input.layout}".replace(
                "torch.", ""
            )
        )
    product = named.matmul(mat1, mat2)
    if product.shape != input.shape:
        raise RuntimeError(
            f"sampled_addmm: self.shape[-2] and self.shape[-1] must match those of mat1 @ mat2: "
            f"{list(input.shape)} and {list(product.shape)}"
        )
    found = input._like(named.add(named.mul(input, beta), named.mul(product, input._mask()), alpha=alpha))
    return found if out is None else out.copy_(found)


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """The sum over all, or over `dim`: sparse unless no sparse dimension remains (torch.sparse.sum)."""
    input = input.coalesce()
    return input._with(input._masked()).sum(dim, dtype=dtype)


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Any:
    """The softmax over the specified elements along `dim` (torch.sparse.softmax)."""
    return _normalised("softmax", input, dim, dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Any:
    """The log of `softmax`, of the specified elements (torch.sparse.log_softmax)."""
    return _normalised("log_softmax", input, dim, dtype)


def _normalised(name: str, input: Any, dim: int, dtype: Any) -> Any:
    if not isinstance(input, SparseTensor):
        raise NotImplementedError(f"torch.sparse.{name} takes sparse tensors in coordinate format")
    input = input.coalesce()
    there = input._mask().ne(0)
    found = namespace("")[name](named.where(there, input, float("-inf")), dim, dtype=dtype)
    return input._like(named.where(there, found, 0.0))


def spdiags(diagonals: Any, offsets: Any, shape: Any, layout: Any = None) -> Any:
    """A sparse matrix of that `shape` with rows of `diagonals` as its diagonals at `offsets`: what is in
    column j of a row goes to column j (torch.sparse.spdiags). Waits for the offsets. RuntimeError where they
    do not fit.
    """
    if diagonals.ndim < 2:
        diagonals = diagonals.unsqueeze(0)
    offsets = offsets.reshape(1) if not offsets.ndim else offsets
    if offsets.dtype is not dtypes.int64:
        raise RuntimeError(f"Offset Tensor must have dtype Long but got {offsets.dtype.title}")
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    if layout is not None and f"{layout}" not in ("torch.sparse_coo", "torch.sparse_csc", "torch.sparse_csr"):
        was = "Strided" if f"{layout}" == "torch.strided" else f"{layout}"
        raise RuntimeError(f"Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got {was}")
    count, width = diagonals.shape
    if offsets.numel() != count:
        raise RuntimeError(
            f"Number of diagonals ({count}) does not match the number of offsets ({offsets.numel()})"
        )
    places = offsets.tolist()
    if len(set(places)) != count:
        raise RuntimeError("Offset tensor contains duplicate values")
    at: list[tuple[int, int, int]] = []
    for k, offset in enumerate(places):
        columns = range(max(offset, 0), min(width, shape[1], shape[0] + offset))
        at.extend((k, column - offset, column) for column in columns)
    table = as_tensor(np.array(at, dtype=np.int64).reshape(-1, 3))
    which, pair = table[:, 0], table[:, 1:].t()
    values = Tensor.__getitem__(diagonals, (which, pair[1]))
    found = sparse_coo_tensor(pair, values, tuple(shape))
    if layout is None or layout == _sparse_coo:
        return found
    return found.coalesce().to_sparse(layout=layout)


def _typed(title: str, dtype: Any) -> Any:
    def make(*args: Any) -> SparseTensor:
        if len(args) == 1 or (args and all(isinstance(a, int) for a in args)):
            return sparse_coo_tensor(size=args[0] if len(args) == 1 else args, dtype=dtype)
        return sparse_coo_tensor(*args, dtype=dtype)

    make.__name__ = make.__qualname__ = title
    make.__doc__ = f"A sparse tensor of {dtype!r} from places, values and a size (torch.sparse.{title})."
    return make


FloatTensor = _typed("FloatTensor", dtypes.float32)
DoubleTensor = _typed("DoubleTensor", dtypes.float64)
HalfTensor = _typed("HalfTensor", dtypes.float16)
BFloat16Tensor = _typed("BFloat16Tensor", dtypes.bfloat16)
IntTensor = _typed("IntTensor", dtypes.int32)
LongTensor = _typed("LongTensor", dtypes.int64)
ShortTensor = _typed("ShortTensor", dtypes.int16)
CharTensor = _typed("CharTensor", dtypes.int8)
ByteTensor = _typed("ByteTensor", dtypes.uint8)
