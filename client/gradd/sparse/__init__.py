"""Functions of sparse tensors (torch.sparse), which are dense behind what they say.

Source: https://docs.pytorch.org/docs/stable/sparse.html
"""

from __future__ import annotations

from typing import Any

from gradd_engine.data import dtypes
from gradd_engine.graph import no_grad
from gradd_engine.schema import named

from .._surface import SparseTensor, namespace, sparse_coo_tensor
from .._surface import sparse as _sparse
from .._tensor import Tensor

__all__ = [
    "BFloat16Tensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor", "addmm",
    "log_softmax", "mm", "softmax", "spmm", "sum",
]  # fmt: skip


def mm(mat1: Tensor, mat2: Tensor, reduce: str | None = None) -> Any:
    """The product of two matrices, sparse where both are (torch.sparse.mm). NotImplementedError for a
    reduction other than the sum.
    """
    if reduce not in (None, "sum"):
        raise NotImplementedError(f"torch.sparse.mm(reduce={reduce!r}) is not yet supported by gradd")
    found = named.mm(mat1, mat2)
    return _sparse(found, 2) if isinstance(mat1, SparseTensor) and isinstance(mat2, SparseTensor) else found


def spmm(input: Tensor, mat2: Tensor) -> Any:
    """As `mm` (torch.spmm)."""
    return mm(input, mat2)


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0) -> Any:
    """``beta * mat + alpha * mat1 @ mat2``, dense (torch.sparse.addmm)."""
    return named.addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


def sum(input: Tensor, dim: Any = None, dtype: Any = None) -> Any:
    """The sum over all, or over `dim`: sparse unless no sparse dimension remains (torch.sparse.sum)."""
    if dim is None:
        return named.sum(input, dtype=dtype)
    over = {d % len(input.shape) for d in ([dim] if isinstance(dim, int) else dim)}
    found = named.sum(input, sorted(over), dtype=dtype)
    kept = input.sparse_dim() - len([d for d in over if d < input.sparse_dim()])
    return _sparse(found, kept) if kept and isinstance(input, SparseTensor) else found


def softmax(input: Tensor, dim: int, dtype: Any = None) -> Any:
    """The softmax over the specified elements along `dim` (torch.sparse.softmax)."""
    return _normalised("softmax", input, dim, dtype)


def log_softmax(input: Tensor, dim: int, dtype: Any = None) -> Any:
    """The log of `softmax`, of the specified elements (torch.sparse.log_softmax)."""
    return _normalised("log_softmax", input, dim, dtype)


def _normalised(name: str, input: Any, dim: int, dtype: Any) -> Any:
    input = input.coalesce()
    places = input.indices()
    with no_grad():
        there = namespace("")["zeros"](list(input.shape[: input.sparse_dim()]), dtype=dtypes.bool_)
        if places.shape[1]:
            there[tuple(places.unbind(0))] = True
        there = there.reshape([*there.shape, *[1] * input.dense_dim()])
    dense = input.to_dense()
    shifted = named.where(there, dense, float("-inf"))
    found = namespace("")[name](shifted, dim, dtype=dtype)
    made = _sparse(named.where(there, found, 0.0), input.sparse_dim())
    made._given = places, made._at(places)
    return made


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
