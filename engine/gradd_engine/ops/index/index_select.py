"""Slices selected by a vector of indices: index_select, index_add, index_copy, index_fill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, preserved_strides, within, wrap_dim
from ...declare import LINEAR, InPlace, kernel, of_expanded
from ...schema import named
from ...tensor import Tensor
from ..elementwise import mul
from ..shape import reshape
from ..shared import element, fits, number_first, zeros
from .indexing import add_at, in_range
from .scatter import INDEX, bounded

if TYPE_CHECKING:
    from ...schema import Op


def _index_select_infer(input: Tensor, index: Tensor, dim: int) -> Meta:
    d = wrap_dim(dim, input.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype not in INDEX:
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    shape = list(input.shape)
    if shape:
        shape[d] = index.numel()
    return Meta(tuple(shape), input.dtype)


def _index_select_impl(xp: Any, a: Any, index: Any, dim: int) -> Any:
    size = a.shape[dim] if a.ndim else 1
    within(index, 0, size, IndexError, "index out of range in self", "index_select")
    return xp.take(a, index.reshape(-1), axis=dim) if a.ndim else a


index_select: Op = kernel(
    "index_select(Tensor input, int dim, Tensor index) -> Tensor",
    infer=_index_select_infer,
    impl=_index_select_impl,
    vjp={
        "input": lambda g, input_meta, index, dim: index_add_op(
            zeros(list(input_meta.shape), dtype=g.dtype), dim, index, g
        )
    },
    jvp=LINEAR,
    method=True,
    doc="The slices along `dim` at the given indices (torch.index_select).",
)


def _index_add_infer(input: Tensor, index: Tensor, source: Tensor, dim: int, alpha: Any) -> Meta:
    d = wrap_dim(dim, input.ndim)
    count = index.numel()
    if index.ndim > 1:
        raise IndexError(
            f"index_add_(): Index is supposed to be a vector, but got dim: {index.ndim} with type: "
            f"{index.dtype.title} and size: {list(index.shape)}"
        )
    if index.dtype not in INDEX:
        raise RuntimeError(f"index_add_(): Expected dtype int32/int64 for index but got: {index.dtype.title}")
    if input.dtype is not source.dtype:
        raise RuntimeError(
            f"index_add_(): self ({input.dtype.title}) and source ({source.dtype.title}) must have "
            f"the same scalar type"
        )
    have = source.shape[d] if source.ndim > d else 1
    if count != have:
        raise RuntimeError(
            f"index_add_(): Number of indices ({count}) should be equal to source.size(dim): "
            f"({have}), for dim: {d}"
        )
    if input.ndim and [*input.shape[:d], count, *input.shape[d + 1 :]] != list(source.shape):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got "
            f"self.shape = {list(input.shape)} source.shape = {list(source.shape)}"
        )
    fits(alpha, input.dtype)
    return Meta(tuple(input.shape), input.dtype)


def _index_add_impl(xp: Any, a: Any, index: Any, source: Any, dim: int, alpha: Any) -> Any:
    out = a.copy()
    index = index.reshape(-1)
    if alpha != 1:
        source = source * xp.asarray(alpha).astype(source.dtype)
    if not out.ndim:
        return out + source.sum()
    bounded(index, out.shape[dim], dim % out.ndim)
    add_at(xp, xp.moveaxis(out, dim, 0), (index,), xp.moveaxis(source, dim, 0))
    return out


index_add_op: Op = kernel(
    "index_add(Tensor input, int dim, Tensor index, Tensor source, *, Number alpha=1) -> Tensor",
    infer=_index_add_infer,
    impl=_index_add_impl,
    vjp={
        "input": lambda g: g,
        "source": lambda g, index, dim, alpha, source: _times(
            reshape(index_select(g, dim, index), list(source.shape)), alpha
        ),
    },
    jvp=LINEAR,
    method=True,
    inplace=True,
    doc="A copy with slices of `alpha * source` added at the given indices (torch.index_add).",
)


def _times(x: Any, alpha: Any) -> Any:
    return x if alpha == 1 else mul(x, alpha)


def _index_copy_infer(input: Tensor, index: Tensor, source: Tensor, dim: int) -> Meta:
    d = wrap_dim(dim, input.ndim)
    if index.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if source.ndim and input.ndim and source.ndim != input.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. "
            f"Source dimensionality ({source.ndim}), destination dimensionality ({input.ndim})"
        )
    if index.dtype is not dtypes.int64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {index.dtype.title}")
    if input.dtype is not source.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{input.dtype.title} and (source) {source.dtype.title}"
        )
    mine, other = list(input.shape), list(source.shape)
    del mine[d : d + 1], other[d : d + 1]
    if mine != other:
        names = " ".join(map(str, mine)), " ".join(map(str, other))
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{names[0]} at dimension {d} and source slice shape: {names[1]} at dimension 0."
        )
    have = source.shape[d] if source.ndim else 1
    if index.numel() != have:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.numel()}) should be equal to source.size(dim) ({have})"
        )
    return Meta(tuple(input.shape), input.dtype)


def _index_copy_impl(xp: Any, a: Any, index: Any, source: Any, dim: int) -> Any:
    out = a.copy()
    if not out.ndim:
        return source.reshape(()).copy()
    size = out.shape[dim]
    text = f"index_copy_(): index {{}} is out of bounds for dimension {dim % out.ndim} with size {size}"
    within(index, -size, size, IndexError, text, "index_copy")
    xp.moveaxis(out, dim, 0)[index.reshape(-1)] = xp.moveaxis(source, dim, 0) if source.ndim else source
    return out


index_copy: Op = kernel(
    "index_copy(Tensor input, int dim, Tensor index, Tensor source) -> Tensor",
    infer=_index_copy_infer,
    impl=_index_copy_impl,
    vjp={
        "input": lambda g, index, dim: index_fill(g, dim, index, 0.0),
        "source": lambda g, index, dim, source: reshape(index_select(g, dim, index), list(source.shape)),
    },
    jvp=LINEAR,
    method=True,
    inplace=True,
    doc="A copy with slices of `source` written at the given indices (torch.index_copy).",
    autocast={"cpu": "widest"},
)


def _index_fill_infer(input: Tensor, index: Tensor, value: Any, dim: int) -> Meta:
    wrap_dim(dim, input.ndim)
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(
            f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    if index.dtype is not dtypes.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    return Meta(tuple(input.shape), input.dtype, preserved_strides(input))


def _index_fill_number(input: Tensor, index: Tensor, value: Any, dim: int) -> None:
    if isinstance(value, complex) and not input.dtype.is_complex:
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    fits(value, input.dtype)


def _index_fill_impl(xp: Any, a: Any, index: Any, value: Any, dim: int) -> Any:
    out = a.copy()
    if not out.ndim:
        return xp.full((), element(value, a.dtype), a.dtype) if index.size else out
    _fill_slices(xp, out, index, value, dim)
    return out


def _fill_slices(xp: Any, out: Any, index: Any, value: Any, dim: int) -> None:
    in_range(index, out.shape[dim], dim % out.ndim)
    xp.moveaxis(out, dim, 0)[index.reshape(-1)] = element(value, out.dtype)


def _filled_part(g: Any, index: Any, dim: int) -> Any:
    """`g` at the indices, each place counted once; zeros elsewhere."""
    there = index_fill(named.zeros_like(named.detach(g)), dim, index, 1.0)
    return named.where(named.ne(there, 0), g, named.zeros_like(there))


index_fill: Op = kernel(
    "index_fill(Tensor input, int dim, Tensor index, Tensor|Number value) -> Tensor",
    infer=_index_fill_infer,
    check_values=_index_fill_number,
    impl=_index_fill_impl,
    vjp={
        "input": lambda g, index, dim: index_fill(g, dim, index, 0.0),
        "value": lambda g, index, dim: _filled_part(g, index, dim).sum(),
    },
    jvp=LINEAR,
    node="IndexFillBackward1",
    number_nodes={"value": "IndexFillBackward0"},
    method=True,
    inplace=InPlace(
        expanded=_fill_slices,
        warnings=lambda *_, **attrs: [of_expanded("index_fill_", "tensor[mask] = scalar")],
    ),
    doc="A copy with one value written to the slices at the given indices (torch.index_fill).",
    reads_first=number_first,
)
