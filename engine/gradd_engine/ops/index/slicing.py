"""Parts of a tensor as views: slice, select, narrow, unbind, split, chunk, and their transposes.

A slice's start and a select's index are run-time values, lengths are static: a loop over ``X[i : i + 64]`` is
one program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import INT, NODE_BYTES, TENSOR_BYTES, Meta, wrap_dim
from ...declare import LINEAR, attach, composite, kernel, public, view
from ...graph import TURN, spend
from ...schema import named
from ...tensor import Tensor
from ..shared import zeros

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema import Op


def _narrowed(input: Any, dim: int, start: int, length: int, step: int = 1) -> Meta:
    """The geometry of `length` elements of `dim` from `start`, `step` apart."""
    shape, strides = list(input.shape), list(input.strides)
    offset = input.offset + start * strides[dim]
    shape[dim] = length
    strides[dim] *= step
    return Meta(tuple(shape), input.dtype, tuple(strides), offset)


def _slice_infer(input: Tensor, dim: int, start: int, length: int, step: int) -> Meta:
    if not input.ndim:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    d = wrap_dim(dim, input.ndim)
    if step <= 0:
        raise ValueError("step must be greater than zero")
    last = start + (length - 1) * step if length else start
    if start < 0 or length < 0 or last > input.shape[d] - (1 if length else 0):
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({input.shape[d]}).")
    return _narrowed(input, d, start, length, step)


def _cut(xp: Any, out: Any, dim: int, start: int, length: int, step: int) -> Any:
    """The slice of array `out`, as a view."""
    at = [slice(None)] * out.ndim
    at[dim] = slice(start, start + (length - 1) * step + 1 if length else start, step)
    return out[tuple(at)]


slice_: Op = view(
    "slice_from(Tensor(a) input, int dim, value int start, int length, int step=1) -> Tensor(a)",
    infer=_slice_infer,
    vjp=lambda g, input_meta, dim, start, length, step: slice_backward(
        g, list(input_meta.shape), dim, start, length, step
    ),
    node="SliceBackward0",
    namespace="-",
    outside=True,
    doc=(
        "`length` elements of `dim` from `start` (counted from the front), `step` apart: the view behind "
        "x[a:b:c]."
    ),
    window=True,
    relative=True,
)


def _slice_backward(xp: Any, g: Any, size: Any, dim: int, start: int, length: int, step: int) -> Any:
    out = xp.zeros(tuple(size), g.dtype)
    _cut(xp, out, wrap_dim(dim, out.ndim), start, length, step)[...] = g
    return out


slice_backward: Op = kernel(
    "slice_backward(Tensor grad, int[] size, int dim, value int start, int length, int step) -> Tensor",
    infer=lambda g, size, dim, start, length, step: Meta(tuple(size), g.dtype),
    impl=_slice_backward,
    vjp=lambda g, dim, start, length, step: slice_(g, dim, start, length, step),
    jvp=LINEAR,
    namespace="-",
    outside=True,
    doc="Zeros of `size` with `grad` in the place of the slice.",
)


def slice_range(start: int | None, end: int | None, step: int, size: int) -> tuple[int, int]:
    """(start, length) of a Python slice over `size` elements; ValueError unless the step is positive."""
    if step <= 0:
        raise ValueError("step must be greater than zero")
    first, stop, _ = slice(start, end, step).indices(size)
    return first, max(0, -(-(stop - first) // step))


def _slice(input: Tensor, dim: int, start: int | None, end: int | None, step: int) -> Any:
    if not input.ndim:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    first, length = slice_range(start, end, step, input.shape[wrap_dim(dim, input.ndim)])
    return slice_(input, dim, first, length, step)


composite(
    "slice(Tensor input, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
    body=_slice,
    namespace="-",
    outside=True,
    doc="``input[..., start:end:step, ...]`` along dimension `dim`.",
)


def _narrow(input: Tensor, dim: int, start: int, length: int) -> Any:
    if not input.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    size = input.shape[wrap_dim(dim, input.ndim)]
    if not -size <= start <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    if start < 0:
        start += size
    if start > size - length:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return slice_(input, dim, start, length)


narrow_op: Op = composite(
    "narrow(Tensor input, int dim, value int start, int length) -> Tensor",
    body=_narrow,
    namespace="-",
    outside=True,
    doc="`length` elements of `dim` from `start` (torch.narrow).",
)


@public(method=True)
def narrow(input: Any, dim: int, start: Any, length: int) -> Any:
    """See torch.narrow; `start` may be a one-element integer tensor, which is read."""
    if isinstance(start, Tensor):
        if start.ndim or start.dtype.category != INT:
            raise RuntimeError("start must be an 0-dim integral Tensor.")
        from . import dynamic

        start = int(dynamic.read(start))
    return narrow_op(input, dim, start, length)


def _select_infer(input: Tensor, dim: int, index: int) -> Meta:
    if not input.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d = wrap_dim(dim, input.ndim)
    size = input.shape[d]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at dimension {d}"
        )
    offset = input.offset + (index + size if index < 0 else index) * input.strides[d]
    shape, strides = tuple(input.shape), input.strides
    return Meta(shape[:d] + shape[d + 1 :], input.dtype, strides[:d] + strides[d + 1 :], offset)


select: Op = view(
    "select(Tensor(a) input, int dim, value int index) -> Tensor(a)",
    infer=_select_infer,
    vjp=lambda g, input_meta, dim, index: select_backward(g, list(input_meta.shape), dim, index),
    method=True,
    doc="The slice at one index of `dim`, without that dimension (torch.select).",
    window=True,
    relative=True,
)


def _select_backward(xp: Any, g: Any, size: Any, dim: int, index: int) -> Any:
    out = xp.zeros(tuple(size), g.dtype)
    at: list[Any] = [slice(None)] * out.ndim
    at[dim] = index
    out[tuple(at)] = g
    return out


select_backward: Op = kernel(
    "select_backward(Tensor grad, int[] size, int dim, value int index) -> Tensor",
    infer=lambda g, size, dim, index: Meta(tuple(size), g.dtype),
    impl=_select_backward,
    vjp=lambda g, dim, index: select(g, dim, index),
    jvp=LINEAR,
    namespace="-",
    outside=True,
    doc="Zeros of `size` with `grad` in the place of the selection.",
)


def _unbind_infer(input: Tensor, dim: int) -> list[Meta]:
    if not input.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    d = wrap_dim(dim, input.ndim)
    shape = tuple(input.shape[:d] + input.shape[d + 1 :])
    strides = input.strides[:d] + input.strides[d + 1 :]
    return [
        Meta(shape, input.dtype, strides, input.offset + i * input.strides[d]) for i in range(input.shape[d])
    ]


def _unbind_backward(grads: Sequence[Any], input_meta: Any, dim: int) -> Any:
    d = wrap_dim(dim, input_meta.ndim)
    shape = list(input_meta.shape[:d] + input_meta.shape[d + 1 :])
    return named.stack([zeros(shape, dtype=input_meta.dtype) if g is None else g for g in grads], d)


def views_cost(input: Tensor, dim: int, each: int) -> tuple[int, int]:
    """The cost of a view and its node for every `each` elements along `dim`; 0 if refused anyway."""
    if not -input.ndim <= dim < input.ndim or each < 1:
        return 0, 0
    return parts_cost(-(-input.shape[dim] // each))


def parts_cost(count: int) -> tuple[int, int]:
    """The cost of `count` views and their nodes."""
    return count * TURN // 4, count * (TENSOR_BYTES + NODE_BYTES)


unbind = view(
    "unbind(Tensor(a) input, int dim=0) -> Tensor(a)[]",
    cost=lambda input, dim=0: views_cost(input, dim, 1),
    infer=_unbind_infer,
    vjp=_unbind_backward,
    method=True,
    doc="All slices along `dim` (torch.unbind).",
    relative=True,
)


def _parts(input: Tensor, dim: int, sizes: Sequence[int]) -> list[Meta]:
    out, start = [], 0
    for n in sizes:
        out.append(_narrowed(input, dim, start, n))
        start += n
    return out


def even(size: int, split_size: int) -> list[int]:
    """The sizes of parts of `split_size`; the last may be smaller."""
    if split_size == 0:
        return [0]
    count = max(1, -(-size // split_size))
    return [split_size] * (count - 1) + [size - split_size * (count - 1)]


def split_infer(input: Tensor, split_size: int, dim: int) -> list[Meta]:
    """The parts of split, as views; RuntimeError as in PyTorch."""
    if not input.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if split_size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
    d = wrap_dim(dim, input.ndim)
    size = input.shape[d]
    if split_size == 0 and size:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}"
        )
    return _parts(input, d, even(size, split_size))


def rejoined(grads: Sequence[Any], meta: Any, dim: int, sizes: Sequence[int]) -> Any:
    """The gradients of the parts, concatenated; zeros for parts without one."""
    parts = []
    for g, n in zip(grads, sizes, strict=True):
        if g is None:
            shape = list(meta.shape)
            shape[dim] = n
            g = zeros(shape, dtype=meta.dtype)
        parts.append(g)
    return named.cat(parts, dim)


def _split_backward(grads: Sequence[Any], input_meta: Any, split_size: int, dim: int) -> Any:
    d = wrap_dim(dim, input_meta.ndim)
    return rejoined(grads, input_meta, d, even(input_meta.shape[d], split_size))


_split = view(
    "split_evenly(Tensor(a) input, int split_size, int dim=0) -> Tensor(a)[]",
    cost=lambda input, split_size, dim=0: views_cost(input, dim, split_size),
    infer=split_infer,
    vjp=_split_backward,
    node="SplitBackward0",
    namespace="-",
    outside=True,
    doc="Parts of `split_size` elements of `dim`; the last may be smaller.",
    relative=True,
)


def split_sizes_infer(input: Tensor, split_sizes: Sequence[int], dim: int) -> list[Meta]:
    """The parts of split_with_sizes, as views; RuntimeError as in PyTorch."""
    if not input.ndim:
        raise RuntimeError("split_with_sizes expects at least a 1-dimensional tensor")
    d = wrap_dim(dim, input.ndim)
    if any(n < 0 for n in split_sizes):
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={list(split_sizes)}"
        )
    if sum(split_sizes) != input.shape[d]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {input.shape[d]} (input tensor's size "
            f"at dimension {d}), but got split_sizes={list(split_sizes)}"
        )
    return _parts(input, d, split_sizes)


split_with_sizes = view(
    "split_with_sizes(Tensor(a) input, int[] split_sizes, int dim=0) -> Tensor(a)[]",
    infer=split_sizes_infer,
    vjp=lambda grads, input_meta, split_sizes, dim: rejoined(
        grads, input_meta, wrap_dim(dim, input_meta.ndim), split_sizes
    ),
    method=True,
    doc="Parts of the given sizes along `dim` (torch.split_with_sizes).",
    relative=True,
)


def _split_any(input: Tensor, split_size_or_sections: Any, dim: int) -> Any:
    if isinstance(split_size_or_sections, (list, tuple)):
        return split_with_sizes(input, list(split_size_or_sections), dim)
    return _split(input, split_size_or_sections, dim)


split_op = composite(
    "split(Tensor tensor, int[] split_size_or_sections, int dim=0) -> Tensor[]",
    body=_split_any,
    doc="Parts of one size, or of the given sizes, along `dim` (torch.split).",
)


@public(numpy_names=False)
def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> Any:
    """See torch.split."""
    return split_op(tensor, split_size_or_sections, dim)


def _split_method(self: Any, split_size: Any, dim: int = 0) -> Any:
    """See torch.Tensor.split."""
    return split_op(self, split_size, dim)


def chunked(name: str, split: Any, by_sizes: Any, input: Tensor, chunks: int, dim: int) -> Any:
    """At most `chunks` equal parts, by `split` or, if `dim` is empty, by `by_sizes`; charged to `name`."""
    if not input.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    each = -(-input.shape[wrap_dim(dim, input.ndim)] // chunks)
    if each == 0:
        spend(name, *parts_cost(chunks))
        return by_sizes(input, [0] * chunks, dim)
    return split(input, each, dim)


chunk = composite(
    "chunk(Tensor input, int chunks, int dim=0) -> Tensor[]",
    body=lambda input, chunks, dim: chunked("chunk", _split, split_with_sizes, input, chunks, dim),
    method=True,
    doc="At most `chunks` parts of equal size along `dim` (torch.chunk).",
)


def _tensor_split(input: Tensor, indices_or_sections: Any, dim: int) -> Any:
    if not input.ndim:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    size = input.shape[wrap_dim(dim, input.ndim)]
    if isinstance(indices_or_sections, (list, tuple)):
        ends = [*indices_or_sections, size]
    else:
        count = indices_or_sections
        if count <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {count}")
        spend("tensor_split", *parts_cost(count))
        ends = [(i + 1) * (size // count) + min(i + 1, size % count) for i in range(count)]
    parts, start = [], 0
    for end in ends:
        parts.append(slice_(input, dim, *slice_range(start, end, 1, size)))
        start = end
    return tuple(parts)


_tensor_split_op = composite(
    "tensor_split(Tensor input, int[] indices_or_sections, int dim=0) -> Tensor[]",
    body=_tensor_split,
    namespace="-",
    outside=True,
    doc="Parts between given indices, or that many nearly equal ones, along `dim` (torch.tensor_split).",
)


@public(
    method=True,
    forms=(
        "(input, indices_or_sections: int | Sequence[int] | Tensor, dim=0) -> tuple[Tensor, ...]",
        "(input, *, sections: int, dim=0) -> tuple[Tensor, ...]",
        "(input, *, indices: int | Sequence[int], dim=0) -> tuple[Tensor, ...]",
        "(input, *, tensor_indices_or_sections: Tensor, dim=0) -> tuple[Tensor, ...]",
    ),
)
def tensor_split(
    input: Any,
    indices_or_sections: Any = None,
    dim: int = 0,
    *,
    indices: Any = None,
    sections: Any = None,
    tensor_indices_or_sections: Any = None,
) -> Any:
    """See torch.tensor_split; a tensor of indices or sections is read."""
    given = (indices_or_sections, indices, sections, tensor_indices_or_sections)
    how = next((x for x in given if x is not None), None)
    if isinstance(how, Tensor):
        if how.ndim > 1 or how.dtype.name != "int64":
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
                f"one-dimensional tensor of dtype int64, but got a tensor with {how.ndim} dims"
            )
        read: Any = how
        how = [int(n) for n in read.tolist()] if how.ndim else int(read.item())
    return _tensor_split_op(input, how, dim)


attach("split", _split_method)
