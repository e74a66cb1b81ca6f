"""Rearranged tensors: rotations, blocks, Cartesian products, scatters into copies, repeats.

Behaviour and nodes follow https://pytorch.org/docs/stable/torch.html.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import Meta, ambient, dtypes, holds, numel, preserved_strides, wrap_dim
from ...declare import LINEAR, all_tensors, attach, invalid_combination, kernel, public
from ...schema import named
from ...tensor import Tensor
from ..shape import diagonal, diagonal_infer, flatten, unsqueeze
from ..shared import storable, tensor, zeros
from . import dynamic
from .dynamic import masked_rows
from .joining import common_dtype, meshgrid, repeat_interleave, stack, vstack
from .slicing import _select_infer, select, slice_, slice_range, tensor_split, unbind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema import Op


def _turned(input: Tensor, k: int, dims: Sequence[int]) -> tuple[int, int]:
    """The two dimensions of a rotation, counted from the front; RuntimeError unless there are two."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input.ndim}")
    for at in dims:
        if not -input.ndim <= at < input.ndim:
            raise RuntimeError(f"Rotation dim{dims.index(at)} out of range, dim{dims.index(at)} = {at}")
    first, second = (at % input.ndim for at in dims)
    if first == second:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    return first, second


def _rot90_infer(input: Tensor, k: int, dims: Sequence[int]) -> Meta:
    a, b = _turned(input, k, dims)
    if k % 4 == 0:
        return Meta(tuple(input.shape), input.dtype)
    shape, strides = list(input.shape), list(preserved_strides(input))
    if k % 2:
        shape[a], shape[b] = shape[b], shape[a]
        strides[a], strides[b] = strides[b], strides[a]
    return Meta(tuple(shape), input.dtype, tuple(strides))


rot90: Op = kernel(
    "rot90(Tensor input, int k=1, int[] dims=[0, 1]) -> Tensor",
    infer=_rot90_infer,
    impl=lambda xp, a, k, dims: xp.rot90(a, k, tuple(dims)),
    vjp=lambda g, k, dims: rot90(g, -k, dims),
    jvp=LINEAR,
    method=True,
    doc="A rotation by `k` times 90 degrees, from the first of `dims` to the second (torch.rot90).",
    raises=False,
)


def _set(input: Tensor, src: Tensor, part: Meta) -> Meta:
    """The geometry of `input` with a part set; RuntimeError if `src` does not have the part's shape."""
    if tuple(src.shape) != part.shape:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. "
            f"src size = {list(src.shape)}, slice size = {list(part.shape)}"
        )
    # Keep gaps between elements too.
    overlaps = any(s == 0 for s in input.strides)
    strides = preserved_strides(input) if overlaps else tuple(input.strides)
    return Meta(tuple(input.shape), input.dtype, strides)


def _stored(xp: Any, a: Any, index: Any, dim: int, src: Any) -> Any:
    out = xp.array(a, copy=True)
    out[(slice(None),) * (dim % out.ndim) + (index,)] = storable(src, out)
    return out


def _store_diagonal(xp: Any, a: Any, src: Any, offset: int, dim1: int, dim2: int) -> Any:
    out = xp.array(a, copy=True)
    front = xp.moveaxis(out, (dim1, dim2), (-2, -1))
    along = xp.arange(src.shape[-1])
    front[..., along + max(0, -offset), along + max(0, offset)] = storable(src, out)
    return out


select_scatter: Op = kernel(
    "select_scatter(Tensor input, Tensor src, int dim, value int index) -> Tensor",
    infer=lambda input, src, dim, index: _set(input, src, _select_infer(input, dim, index)),
    impl=lambda xp, a, src, dim, index: _stored(xp, a, index, dim, src),
    vjp=(
        lambda g, src_meta, dim, index: select_scatter(
            g, zeros(list(src_meta.shape), dtype=g.dtype), dim, index
        ),
        lambda g, dim, index: select(g, dim, index),
    ),
    jvp=LINEAR,
    method=True,
    doc="A copy with one index of `dim` replaced by `src` (torch.select_scatter).",
    raises=False,
)


def _range(input: Any, dim: int, start: int | None, end: int | None, step: int) -> tuple[int, int]:
    return slice_range(start, end, step, input.shape[wrap_dim(dim, input.ndim)])


def _slice_set(input: Tensor, src: Tensor, dim: int, start: Any, end: Any, step: int) -> Meta:
    d = wrap_dim(dim, input.ndim)
    _, length = _range(input, dim, start, end, step)
    return _set(input, src, Meta((*input.shape[:d], length, *input.shape[d + 1 :]), input.dtype))


slice_scatter: Op = kernel(
    "slice_scatter(Tensor input, Tensor src, int dim=0, int? start=None, int? end=None, int step=1)"
    " -> Tensor",
    infer=_slice_set,
    impl=lambda xp, a, src, dim, start, end, step: _stored(xp, a, slice(start, end, step), dim, src),
    vjp=(
        lambda g, src_meta, dim, start, end, step: slice_scatter(
            g, zeros(list(src_meta.shape), dtype=g.dtype), dim, start, end, step
        ),
        lambda g, dim, start, end, step: slice_(g, dim, *_range(g, dim, start, end, step), step),
    ),
    jvp=LINEAR,
    method=True,
    doc="A copy with a slice of `dim` replaced by `src` (torch.slice_scatter).",
    raises=False,
)

diagonal_scatter: Op = kernel(
    "diagonal_scatter(Tensor input, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    infer=lambda input, src, offset, dim1, dim2: _set(input, src, diagonal_infer(input, offset, dim1, dim2)),
    impl=_store_diagonal,
    vjp=(
        lambda g, src_meta, offset, dim1, dim2: diagonal_scatter(
            g, zeros(list(src_meta.shape), dtype=g.dtype), offset, dim1, dim2
        ),
        lambda g, offset, dim1, dim2: diagonal(g, offset, dim1, dim2),
    ),
    jvp=LINEAR,
    method=True,
    doc="A copy with a diagonal replaced by `src` (torch.diagonal_scatter).",
    raises=False,
)


def _fill_diagonal(self: Any, fill_value: Any, wrap: bool = False) -> Any:
    """Fill the diagonal with a number, in place (torch.Tensor.fill_diagonal_)."""
    if isinstance(fill_value, Tensor) or not isinstance(fill_value, (int, float, complex)):
        raise TypeError(
            "fill_diagonal_(): argument 'fill_value' (position 1) must be Number, not "
            f"{type(fill_value).__name__}"
        )
    if self.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.ndim > 2 and len(set(self.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    step, length = sum(self.strides), min(self.shape)
    named.as_strided(self, [length], [step], self.offset).fill_(fill_value)
    rows, columns = self.shape[0], self.shape[1]
    if wrap and self.ndim == 2 and rows > columns + 1:
        # the diagonal restarts one row below its end
        for start in range(columns + 1, rows, columns + 1):
            rest = min(columns, rows - start)
            at = self.offset + start * self.strides[0]
            named.as_strided(self, [rest], [step], at).fill_(fill_value)
    return self


attach("fill_diagonal_", _fill_diagonal)


def _blocks(tensors: Sequence[Any]) -> Meta:
    for i, t in enumerate(tensors):
        if t.ndim > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. "
                f"Input {i} has {t.ndim} dimensions"
            )
    shapes = [_block_shape(t) for t in tensors]
    dtype = common_dtype(tensors)
    return Meta((sum(r for r, _ in shapes), sum(c for _, c in shapes)), dtype, compute=dtype)


def _block_shape(t: Any) -> tuple[int, int]:
    return (1, 1) if not t.ndim else (1, t.shape[0]) if t.ndim == 1 else (t.shape[0], t.shape[1])


def _block_diag_impl(xp: Any, tensors: Any, meta: Meta) -> Any:
    out = xp.zeros(meta.shape, tensors[0].dtype)
    row = column = 0
    for a in tensors:
        height, width = _block_shape(a)
        out[row : row + height, column : column + width] = a
        row, column = row + height, column + width
    return out


def _block_diag_vjp(g: Any, tensors_meta: Any) -> list[Any]:
    found, row, column = [], 0, 0
    for m in tensors_meta:
        height, width = _block_shape(m)
        part = slice_(slice_(g, 0, row, height), 1, column, width)
        found.append(named.reshape(part, list(m.shape)))
        row, column = row + height, column + width
    return found


block_diag_op = kernel(
    "block_diag(Tensor[] tensors) -> Tensor",
    infer=_blocks,
    impl=_block_diag_impl,
    vjp=_block_diag_vjp,
    jvp=LINEAR,
    doc="A block-diagonal matrix (torch.block_diag).",
    raises=False,
)


@public()
def block_diag(*tensors: Any) -> Any:
    """See torch.block_diag."""
    return block_diag_op(list(tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list) else tensors))


@public()
def cartesian_prod(*tensors: Any) -> Any:
    """All combinations of the vectors' elements, one per row (torch.cartesian_prod)."""
    for t in all_tensors(tensors):
        if t.ndim != 1:
            raise RuntimeError("Expect a 1D vector, but got shape " + str(list(t.shape)))
    if len(tensors) == 1:
        return tensors[0]
    return stack([flatten(g) for g in meshgrid(*tensors, indexing="ij")], 1)


@public()
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Any:
    """All combinations of `r` elements of a vector, one per row (torch.combinations)."""
    if input.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        with ambient(backend=input.backend):
            return zeros([0], dtype=input.dtype)
    size = len(input)
    count = math.comb(size + r - 1 if with_replacement else size, r)
    with ambient(backend=input.backend):
        # The count is known, so no value is read.
        under = named.full([size] * r, True, dtype=dtypes.bool_)
        places = meshgrid(*[named.arange(0, size, 1)] * r, indexing="ij")
        for one, next_one in itertools.pairwise(places):
            under = under & (one <= next_one if with_replacement else one < next_one)
    grids = meshgrid(*[input] * r, indexing="ij")
    return stack([masked_rows(g, under, count) for g in grids], 1)


@public(out=True)
def row_stack(tensors: Any) -> Any:
    """See torch.row_stack: an alias of vstack."""
    return vstack(tensors)


#: the forms of what splits: by a number of equal parts, or at indices
_SPLIT = (
    "(input, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]",
    "(input, *, sections: int) -> tuple[Tensor, ...]",
    "(input, *, indices: int | Sequence[int]) -> tuple[Tensor, ...]",
)


def _one_of(*given: Any) -> Any:
    """The argument that was given, of several names for one."""
    return next((x for x in given if x is not None), None)


def _splits(name: str, least: int, axis: int) -> None:
    def split(
        input: Tensor, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None
    ) -> Any:
        indices_or_sections = _one_of(indices_or_sections, indices, sections)
        if input.ndim < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, "
                f"but got a tensor with {input.ndim} dimensions!"
            )
        if not isinstance(indices_or_sections, (int, list, tuple)):
            forms = ("Tensor input, int sections", "Tensor input, tuple of ints indices")
            raise TypeError(invalid_combination(name, (input, indices_or_sections), forms))
        dim = axis if input.ndim > 1 else 0
        if isinstance(indices_or_sections, int) and (
            indices_or_sections <= 0 or input.shape[dim] % indices_or_sections
        ):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
                f"{input.shape[dim]} is not divisible by the split_size {indices_or_sections}!"
            )
        return tensor_split(input, indices_or_sections, dim)

    split.__name__ = split.__qualname__ = name
    split.__doc__ = f"Parts along a dimension: a number of equal ones, or cut at indices (torch.{name})."
    public(name=name, method=True, forms=_SPLIT)(split)


_splits("hsplit", 1, 1)
_splits("vsplit", 2, 0)
_splits("dsplit", 3, 2)


def _check_repeats(repeats: Tensor) -> None:
    if repeats.dtype not in (dtypes.int64, dtypes.int32):
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{repeats.dtype.title}'")
    if repeats.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")


def _repeats_infer(repeats: Tensor, total: int) -> Meta:
    _check_repeats(repeats)
    return Meta((total,), repeats.dtype)


def _repeats_impl(xp: Any, repeats: Any, total: int) -> Any:
    holds(repeats < 0, RuntimeError, "repeats can not be negative", "repeat_interleave")
    text = "allocated size does not match required size"
    # A float sum cannot wrap around; the exact check follows.
    whole = repeats.sum(dtype=np.float64)
    holds(abs(whole - total) > 1e-6 * max(total, 1), RuntimeError, text, "repeat_interleave")
    holds(repeats.sum(dtype=np.int64) != total, RuntimeError, text, "repeat_interleave")
    if xp is np:
        return np.repeat(np.arange(len(repeats), dtype=repeats.dtype), repeats)
    # the place of each is the first whose repeats end behind it
    ends = xp.cumsum(repeats, dtype=np.int64)
    return xp.searchsorted(ends, xp.arange(total), side="right").astype(repeats.dtype)


repeated_places = kernel(
    "repeated_places(Tensor repeats, int total) -> Tensor",
    infer=_repeats_infer,
    impl=_repeats_impl,
    namespace="-",
    outside=True,
    doc="0, 1, 2, ..., each repeated as `repeats` says; `total` is the sum of `repeats`.",
)


def _places(repeats: Tensor, output_size: int | None) -> Any:
    _check_repeats(repeats)
    total = int(dynamic.read(repeats.sum())) if output_size is None else output_size  # type: ignore[attr-defined]
    return repeated_places(repeats, total)


def _interleaved(
    input: Any, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Any:
    """See torch.repeat_interleave. A tensor of repeats is summed and its sum read, unless `output_size` is
    given.
    """
    if repeats is None:
        return _places(input, output_size)
    if not isinstance(repeats, Tensor):
        return repeat_interleave(input, repeats, dim)
    if dim is None:
        input, dim = flatten(input), 0
    size = input.shape[wrap_dim(dim, input.ndim)]
    if not repeats.ndim or (repeats.ndim == 1 and len(repeats) == 1):
        repeats = named.expand(named.reshape(repeats, [1]), [size])
    elif repeats.ndim != 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    elif len(repeats) != size:
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {len(repeats)} "
            f"and input.size({dim}) = {size}"
        )
    return named.index_select(input, dim, _places(repeats, output_size))


public(name="repeat_interleave", method=True)(_interleaved)


@public(forms="(indices, shape) -> tuple[Tensor, ...]")
def unravel_index(indices: Any, shape: Any) -> Any:
    """Indices into a flat array as indices into each dimension of `shape` (torch.unravel_index)."""
    if not isinstance(indices, Tensor) or indices.dtype.category != dtypes.INT:
        kind = indices.dtype if isinstance(indices, Tensor) else type(indices)
        raise TypeError(f"expected 'indices' to be integer dtype, but got {kind}")
    sizes = [shape] if isinstance(shape, int) else list(shape)
    steps = [numel(sizes[i + 1 :]) for i in range(len(sizes))]
    with ambient(backend=indices.backend):
        by, into = (tensor(values, dtype=dtypes.int64) for values in (steps, sizes))
    return unbind(named.remainder(named.floor_divide(unsqueeze(indices, -1), by), into), -1)
