"""Methods of all tensors that make and ask sparse ones (torch.Tensor.to_sparse, ...)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradd_engine.graph import no_grad
from gradd_engine.ops.shape.cast import to_dtype
from gradd_engine.schema import named

from .._tensor import Tensor
from .compressed import (
    KINDS,
    CompressedTensor,
    sparse_bsc,
    sparse_bsr,
    sparse_compressed_tensor,
    sparse_csc,
    sparse_csr,
    to_compressed,
    to_coordinates,
)
from .coo import SparseTensor, by_lookups, sparse, sparse_coo, sparse_coo_tensor
from .specified import Specified, zeros


def to_sparse(
    self: Any,
    sparse_dim: Any = None,
    *,
    layout: Any = None,
    blocksize: Any = None,
    dense_dim: int | None = None,
) -> Any:
    """A sparse tensor of the elements that are not zero, or of those that a sparse one specifies, in
    coordinate format or in a `layout` (torch.Tensor.to_sparse). RuntimeError for dimensions that it cannot
    have.
    """
    if isinstance(sparse_dim, type(sparse_coo)):
        sparse_dim, layout = None, sparse_dim
    if layout in KINDS:
        return to_compressed(self, layout, blocksize, dense_dim)
    if layout is not None and layout != sparse_coo:
        raise RuntimeError(f"to_sparse: conversion to {layout} is not supported: it is no sparse layout")
    count = len(self.shape)
    if isinstance(self, CompressedTensor):
        return to_coordinates(self)
    if isinstance(self, SparseTensor):
        if sparse_dim is not None and sparse_dim != self.sparse_dim():
            raise RuntimeError(
                "to_sparse: conversion from Sparse to Sparse with sparse_dim argument !=self.sparse_dim() is "
                "not supported"
            )
        return self
    if sparse_dim is not None and not 0 <= sparse_dim <= count:
        raise RuntimeError(
            f"dense_to_sparse: sparse_dim argument must be in [0,{count}] range, but {sparse_dim} is given"
        )
    return sparse(named.clone(self), count if sparse_dim is None else sparse_dim)


def to_sparse_coo(self: Any) -> Any:
    """As `to_sparse` (torch.Tensor.to_sparse_coo)."""
    return to_sparse(self)


def to_sparse_csr(self: Any, dense_dim: int | None = None) -> Any:
    """With compressed rows (torch.Tensor.to_sparse_csr). RuntimeError for fewer than two dimensions."""
    return to_compressed(self, sparse_csr, None, dense_dim)


def to_sparse_csc(self: Any, dense_dim: int | None = None) -> Any:
    """With compressed columns (torch.Tensor.to_sparse_csc). RuntimeError for fewer than two dimensions."""
    return to_compressed(self, sparse_csc, None, dense_dim)


def to_sparse_bsr(self: Any, blocksize: Any, dense_dim: int | None = None) -> Any:
    """In blocks, with compressed rows (torch.Tensor.to_sparse_bsr). RuntimeError where they do not fit."""
    return to_compressed(self, sparse_bsr, blocksize, dense_dim)


def to_sparse_bsc(self: Any, blocksize: Any, dense_dim: int | None = None) -> Any:
    """In blocks, with compressed columns (torch.Tensor.to_sparse_bsc). RuntimeError where they do not fit."""
    return to_compressed(self, sparse_bsc, blocksize, dense_dim)


def to_dense(self: Any, dtype: Any = None, *, masked_grad: bool | None = None) -> Any:
    """Itself, since it is dense (torch.Tensor.to_dense)."""
    return self if dtype is None else to_dtype(self, dtype)


def sparse_mask(self: Any, mask: Any) -> Any:
    """What is at the places of a sparse tensor, in its layout (torch.Tensor.sparse_mask). RuntimeError for
    another size, TypeError for a dense mask.
    """
    if not isinstance(mask, Specified):
        raise TypeError("sparse_mask(): the mask is a sparse tensor")
    if self.shape != mask.shape:
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(self.shape)} but mask has "
            f"size {list(mask.shape)}"
        )
    there = mask._mask().ne(0)
    found = mask.detach()._like(named.where(there, self, 0))
    if isinstance(mask, SparseTensor) and not mask._sorted:
        # a place that is there several times has the same each time
        with no_grad():
            found._hold(Tensor.__getitem__(self.detach(), tuple(mask._where()[0].unbind(0))))
    return found


def smm(input: Any, mat2: Tensor) -> Any:
    """The product of a sparse and a dense matrix, sparse (torch.smm). RuntimeError for a dense first one."""
    return sspaddmm(sparse(zeros([input.shape[0], mat2.shape[1]], mat2.dtype), 2), input, mat2)


def sspaddmm(input: Any, mat1: Any, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Any:
    """``beta * input + alpha * mat1 @ mat2``, sparse (torch.sspaddmm). RuntimeError unless the first two
    are.
    """
    if not (isinstance(input, SparseTensor) and isinstance(mat1, SparseTensor)):
        raise RuntimeError("tensor.sspaddmm(...) can only be called on sparse tensors")
    return sparse(named.addmm(input, mat1, mat2, beta=beta, alpha=alpha), 2)


def _resizing(name: str) -> Callable[..., Any]:
    def refuse(self: Any, *given: Any) -> Any:
        raise NotImplementedError(f"{name}() is of sparse tensors, and this one is dense")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Of sparse tensors (torch.Tensor.{name}); NotImplementedError for others."
    return refuse


def rebuilt(layout: Any, parts: tuple[Any, ...], requires_grad: bool = False) -> Any:
    """The sparse tensor of this layout that has these parts (`Specified._parts`). ValueError for a layout
    that no sparse tensor has.
    """
    if layout == sparse_coo:
        places, values, size, coalesced = (*parts, None)[:4]
        return sparse_coo_tensor(places, values, size, is_coalesced=coalesced, requires_grad=requires_grad)
    if layout in KINDS:
        return sparse_compressed_tensor(*parts, layout=layout, requires_grad=requires_grad)
    raise ValueError(f"gradd has no sparse tensors of layout {layout}")


def _of_sparse(name: str, kind: str) -> Callable[..., Any]:
    def refuse(self: Any) -> Any:
        was = getattr(self, "_kind", "Strided")
        raise RuntimeError(f"{name} expected {kind} tensor layout but got {was}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Of sparse tensors (torch.Tensor.{name}); RuntimeError for others."
    return refuse


def sparse_dim(self: Any) -> int:
    """0 of a dense tensor (torch.Tensor.sparse_dim)."""
    return 0


def dense_dim(self: Any) -> int:
    """The number of dimensions of a dense tensor (torch.Tensor.dense_dim)."""
    return len(self.shape)


_MADE = (to_sparse, to_sparse_coo, to_sparse_csr, to_sparse_csc, to_sparse_bsr, to_sparse_bsc)
#: the methods of a tensor
SPARSE: dict[str, Callable[..., Any]] = {
    **{f.__name__: f for f in (dense_dim, smm, sparse_dim, sparse_mask, sspaddmm, to_dense, *_MADE)},
    **{n: _resizing(n) for n in ("resize_as_sparse_", "sparse_resize_", "sparse_resize_and_clear_")},
    "_by_lookups": by_lookups,
    "values": _of_sparse("values", "sparse"),
    **{n: _of_sparse(n, "sparse coordinate") for n in ("coalesce", "indices", "is_coalesced")},
    **{n: _of_sparse(n, "sparse row compressed") for n in ("crow_indices", "col_indices")},
    **{n: _of_sparse(n, "sparse column compressed") for n in ("ccol_indices", "row_indices")},
}
Specified.rebuild = rebuilt
