"""Diagonals and triangles of matrices, and sliding windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, contiguous_strides, dtypes, wrap_dim
from ...declare import LINEAR, InPlace, composite, kernel, public, view
from ...tensor import Tensor
from ..shared import fill_shared
from .copies import contiguous_copy
from .reshape import flatten
from .view_ops import as_strided_backward, expand

if TYPE_CHECKING:
    from ...schema import Op


def diagonal_infer(input: Tensor | Meta, offset: int, dim1: int, dim2: int) -> Meta:
    a, b = wrap_dim(dim1, input.ndim), wrap_dim(dim2, input.ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    rows, columns = input.shape[a], input.shape[b]
    length = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    start = input.offset
    if length:
        start += offset * input.strides[b] if offset >= 0 else -offset * input.strides[a]
    rest = [d for d in range(input.ndim) if d not in (a, b)]
    return Meta(
        (*(input.shape[d] for d in rest), length),
        input.dtype,
        (*(input.strides[d] for d in rest), input.strides[a] + input.strides[b]),
        start,
    )


diagonal: Op = view(
    "diagonal(Tensor(a) input, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
    infer=diagonal_infer,
    vjp=lambda g, input_meta, offset, dim1, dim2: diagonal_backward(
        g, list(input_meta.shape), offset, dim1, dim2
    ),
    method=True,
    doc="The diagonal of two dimensions, as a last dimension (torch.diagonal).",
    relative=True,
)


def _diagonal_backward_infer(grad: Tensor, size: Any, offset: int, dim1: int, dim2: int) -> Meta:
    whole = Meta(tuple(size), grad.dtype)
    if tuple(grad.shape) != diagonal_infer(whole, offset, dim1, dim2).shape:
        raise RuntimeError(
            f"diagonal_backward(): a gradient of shape {list(grad.shape)} is not that of a diagonal of "
            f"{list(size)}"
        )
    return whole


def _diagonal_backward(xp: Any, g: Any, size: Any, offset: int, dim1: int, dim2: int) -> Any:
    out = xp.zeros(tuple(size), g.dtype)
    front = xp.moveaxis(out, (dim1, dim2), (-2, -1))
    rows = xp.arange(g.shape[-1]) + max(0, -offset)
    front[..., rows, rows + offset] = g
    return out


diagonal_backward: Op = kernel(
    "diagonal_backward(Tensor grad, int[] size, int offset, int dim1, int dim2) -> Tensor",
    infer=_diagonal_backward_infer,
    impl=_diagonal_backward,
    vjp=lambda g, offset, dim1, dim2: diagonal(g, offset, dim1, dim2),
    jvp=LINEAR,
    namespace="-",
    outside=True,
    doc="Zeros of `size` with `grad` on a diagonal.",
    raises=False,
)


def _linalg_diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """See torch.linalg.diagonal."""
    return diagonal(A, offset, dim1, dim2)


public("linalg", name="diagonal")(_linalg_diagonal)


def _unfold_infer(input: Any, dimension: int, size: int, step: int) -> Meta:
    d = wrap_dim(dimension, input.ndim)
    have = input.shape[d] if input.ndim else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > have:
        raise RuntimeError(f"maximum size for tensor at dimension {d} is {have} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if not input.ndim:
        return Meta((size,), input.dtype, (1,), input.offset)
    shape, strides = list(input.shape), list(input.strides)
    shape[d] = (have - size) // step + 1
    strides[d] *= step
    return Meta((*shape, size), input.dtype, (*strides, input.strides[d]), input.offset)


def _unfold_backward(g: Any, input_meta: Any, dimension: int, size: int, step: int) -> Any:
    shape = tuple(input_meta.shape)
    windows = _unfold_infer(Meta(shape, g.dtype), dimension, size, step)
    return as_strided_backward(
        g, list(shape), list(contiguous_strides(shape)), list(windows.shape), list(windows.strides), 0
    )


unfold = view(
    "unfold(Tensor(a) input, int dimension, int size, int step) -> Tensor(a)",
    infer=_unfold_infer,
    vjp=_unfold_backward,
    method=True,
    namespace="-",
    doc="Windows of `size` elements of `dimension`, `step` apart, as a last dimension (torch.Tensor.unfold).",
    relative=True,
)


def _triangle_infer(input: Tensor, diagonal: int, name: str) -> Meta:
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    return Meta(tuple(input.shape), input.dtype)


def _zero_above(xp: Any, out: Any, diagonal: int) -> None:
    fill_shared(xp, out, ~xp.tri(*out.shape[-2:], diagonal, dtype=bool), out.dtype.type(0))


def _zero_below(xp: Any, out: Any, diagonal: int) -> None:
    fill_shared(xp, out, xp.tri(*out.shape[-2:], diagonal - 1, dtype=bool), out.dtype.type(0))


tril: Op = kernel(
    "tril(Tensor input, int diagonal=0) -> Tensor",
    infer=lambda input, diagonal: _triangle_infer(input, diagonal, "tril"),
    impl=lambda xp, a, diagonal: xp.tril(a, diagonal),
    vjp=lambda g, diagonal: tril(g, diagonal),
    jvp=LINEAR,
    method=True,
    inplace=InPlace(expanded=_zero_above),
    doc="The lower triangle of matrices, with zeros above (torch.tril).",
    raises=False,
)
triu: Op = kernel(
    "triu(Tensor input, int diagonal=0) -> Tensor",
    infer=lambda input, diagonal: _triangle_infer(input, diagonal, "triu"),
    impl=lambda xp, a, diagonal: xp.triu(a, diagonal),
    vjp=lambda g, diagonal: triu(g, diagonal),
    jvp=LINEAR,
    method=True,
    inplace=InPlace(expanded=_zero_below),
    doc="The upper triangle of matrices, with zeros below (torch.triu).",
    raises=False,
)


def _embed_shape(input: Tensor, offset: int, dim1: int, dim2: int) -> tuple[int, ...]:
    n = input.ndim + 1
    a, b = wrap_dim(dim1, n), wrap_dim(dim2, n)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    side = input.shape[-1] + abs(offset)
    rest = iter(input.shape[:-1])
    return tuple(side if d in (a, b) else next(rest) for d in range(n))


diag_embed: Op = kernel(
    "diag_embed(Tensor input, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    infer=lambda input, offset, dim1, dim2: Meta(_embed_shape(input, offset, dim1, dim2), input.dtype),
    impl=lambda xp, a, offset, dim1, dim2, meta: _diagonal_backward(xp, a, meta.shape, offset, dim1, dim2),
    vjp=lambda g, offset, dim1, dim2: diagonal(g, offset, dim1, dim2),
    jvp=LINEAR,
    method=True,
    doc="The last dimension as the diagonal of two new ones (torch.diag_embed).",
    raises=False,
)


def _diagonal_copied(xp: Any, a: Any, offset: int, dim1: int, dim2: int) -> Any:
    # an offset beyond the corners gives an empty diagonal
    return xp.diagonal(a, max(-a.shape[dim1], min(offset, a.shape[dim2])), dim1, dim2)


diagonal_copy = kernel(
    "diagonal_copy(Tensor input, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    infer=lambda input, offset, dim1, dim2: Meta(
        diagonal_infer(input, offset, dim1, dim2).shape, input.dtype
    ),
    impl=_diagonal_copied,
    vjp=lambda g, input_meta, offset, dim1, dim2: diagonal_backward(
        g, list(input_meta.shape), offset, dim1, dim2
    ),
    jvp=LINEAR,
    node="DiagonalBackward0_copy",
    doc="A copy of the diagonal of two dimensions (torch.diagonal_copy).",
)


def _diag(input: Tensor, diagonal: int) -> Any:
    if input.ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    return diag_embed(input, diagonal) if input.ndim == 1 else diagonal_copy(input, diagonal)


diag = composite(
    "diag(Tensor input, int diagonal=0) -> Tensor",
    body=_diag,
    out=True,
    method=True,
    doc="The diagonal of a matrix, or a matrix with a given diagonal (torch.diag).",
)

diagflat = composite(
    "diagflat(Tensor input, int offset=0) -> Tensor",
    body=lambda input, offset: diag_embed(flatten(contiguous_copy(input)), offset),
    method=True,
    doc="A matrix with all elements on its diagonal (torch.diagflat).",
)


def _trace_infer(input: Tensor) -> Meta:
    if input.dtype is dtypes.bool_:
        raise NotImplementedError("\"trace\" not implemented for 'Bool'")
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    return Meta((), dtypes.int64 if input.dtype.category < dtypes.FLOAT else input.dtype)


def _trace_backward(g: Any, input_meta: Any) -> Any:
    length = min(input_meta.shape)
    return diagonal_backward(expand(g, [length]), list(input_meta.shape), 0, 0, 1)


trace = kernel(
    "trace(Tensor input) -> Tensor",
    infer=_trace_infer,
    impl=lambda xp, a, meta: xp.trace(a, dtype=a.dtype if a.dtype.kind in "fc" else meta.dtype.np),
    vjp=_trace_backward,
    jvp=LINEAR,
    method=True,
    doc="The sum of a matrix's diagonal (torch.trace).",
    raises=False,
    autocast={"cpu": "float32"},
)
