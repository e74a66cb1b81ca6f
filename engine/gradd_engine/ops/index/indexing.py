"""Indexing with tensors: reads and writes, one node each (index, index_put).

Masks are first turned into indices, which reads their values (`dynamic.read`); writing one number under a
mask does not. `subscript` implements the square-bracket syntax. `as_tensor` converts lists and arrays used as
indices; a client replaces it (``indexing.as_tensor = ...``) to create them in its session.
Source: https://pytorch.org/docs/stable/tensor_view.html and NumPy's rules of advanced indexing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import (
    BOOL,
    Meta,
    ambient,
    broadcast_shapes,
    broadcast_strides,
    dtypes,
    elementwise_strides,
    numel,
    preserved_strides,
    view_strides,
    within,
)
from ...declare import LINEAR, InPlace, composite, kernel, of_expanded
from ...kernels import apply_at
from ..elementwise import where
from ..shared import constants as create
from ..shared import literal, memory_of, zeros
from .dynamic import ShapeDependsOnValuesError, nonzero_op
from .slicing import select

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...schema import Op
    from ...tensor import Tensor


def _as_tensor(value: Any, like: Tensor) -> Tensor:
    a = literal(value)
    if not a.size and not isinstance(value, np.ndarray):
        a = a.astype(np.int64)
    with ambient(backend=like.backend):
        return create.tensor(a)


#: turns a list or array used as an index into a tensor on the backend of `like`
as_tensor: Callable[[Any, Tensor], Tensor] = _as_tensor


MASKED = of_expanded("masked_fill_", "tensor[mask] = scalar")
_PUT = of_expanded("index_put_", "tensor[indices] = tensor")
_MASKS = (dtypes.bool_, dtypes.uint8)


def is_mask(t: Any) -> bool:
    """Whether an index is a mask; uint8 counts, as in older PyTorch."""
    return t is not None and t.dtype in _MASKS


def check_index(t: Any) -> None:
    """Raise IndexError if a tensor's dtype cannot be an index."""
    if t is not None and t.dtype not in (dtypes.int64, dtypes.int32, *_MASKS):
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")


def without_masks(x: Tensor, indices: Sequence[Any]) -> list[Any]:
    """The indices, with each mask replaced by one index tensor per dimension it covers."""
    out: list[Any] = []
    for t in indices:
        check_index(t)
        if not is_mask(t):
            out.append(t)
            continue
        for d in range(t.ndim):
            if len(out) + d >= x.ndim or t.shape[d] != x.shape[len(out) + d]:
                raise IndexError(
                    f"The shape of the mask {list(t.shape)} at index {d} does not match the shape of the "
                    f"indexed tensor {list(x.shape)} at index {len(out) + d}"
                )
        if t.backend.level:
            t.backend.check_mask(t)
        rows = nonzero_op(t)
        out.extend(select(rows, 1, d) for d in range(t.ndim))
    return out


class _Plan:
    """The geometry of an indexed read: indexed dimensions, the indices' shape and its place in the result."""

    __slots__ = ("at", "dims", "index_shape", "shape")

    def __init__(self, shape: Sequence[int], indices: Sequence[Any]) -> None:
        if len(indices) > len(shape):
            raise IndexError(f"too many indices for tensor of dimension {len(shape)} (got {len(indices)})")
        self.dims = [d for d, t in enumerate(indices) if t is not None]
        given = [indices[d] for d in self.dims]
        for t in given:
            check_index(t)
        try:
            index_shape: tuple[int, ...] = ()
            for t in given:
                index_shape = broadcast_shapes(index_shape, tuple(t.shape))
        except RuntimeError:
            shapes = ", ".join(str(list(t.shape)) for t in given)
            raise IndexError(
                f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
            ) from None
        if numel(index_shape) and any(shape[d] == 0 for d in self.dims):
            raise IndexError("index is out of bounds for dimension with size 0")
        adjacent = self.dims == list(range(self.dims[0], self.dims[-1] + 1))
        self.at = self.dims[0] if adjacent else 0
        rest = [n for d, n in enumerate(shape) if d not in self.dims]
        self.index_shape = index_shape
        self.shape = (*rest[: self.at], *index_shape, *rest[self.at :])

    def strides(self, x: Tensor, indices: Sequence[Any]) -> tuple[int, ...]:
        """The result's strides, from those of the remaining dimensions of `x` and of the indices."""
        kept = [s for d, s in enumerate(x.strides) if d not in self.dims]
        n = len(self.index_shape)
        operands = [Meta(self.shape, x.dtype, (*kept[: self.at], *(0,) * n, *kept[self.at :]))]
        full = (*(1,) * self.at, *self.index_shape, *(1,) * (len(self.shape) - self.at - n))
        for d in self.dims:
            t = indices[d]
            spread = broadcast_strides(tuple(t.shape), t.strides, self.index_shape)
            operands.append(Meta(full, t.dtype, view_strides(self.index_shape, spread, full)))
        return elementwise_strides(self.shape, operands)


def _index_infer(input: Tensor, indices: Sequence[Any]) -> Meta:
    if any(is_mask(t) for t in indices):
        raise ShapeDependsOnValuesError("a mask's indices must be known before they are used")
    plan = _Plan(input.shape, indices)
    return Meta(plan.shape, input.dtype, plan.strides(input, indices))


def positions(shape: Sequence[int], indices: Sequence[Any]) -> tuple[Any, ...]:
    """Array indices for NumPy; IndexError as in PyTorch if one is out of range."""
    out: list[Any] = []
    seen = 0
    for d, a in enumerate(indices):
        if a is None:
            out.append(slice(None))
            continue
        if a.dtype.kind != "b":
            in_range(a, shape[d], seen)
        seen += 1
        out.append(a)
    return tuple(out)


def in_range(a: Any, size: int, dim: int) -> None:
    """Raise IndexError if an index is outside [-size, size)."""
    text = f"index {{}} is out of bounds for dimension {dim} with size {size}"
    within(a, -size, size, IndexError, text, "indexing")


index: Op = kernel(
    "index(Tensor input, Tensor?[] indices) -> Tensor",
    infer=_index_infer,
    impl=lambda xp, a, indices: a[positions(a.shape, indices)],
    vjp={"input": lambda g, input_meta, indices: index_put_add(g, indices, list(input_meta.shape))},
    jvp=LINEAR,
    namespace="-",
    outside=True,
    doc="Elements at integer index tensors, one per dimension; None selects all of it.",
)


def add_at(xp: Any, out: Any, at: tuple[Any, ...], values: Any) -> None:
    """Add `values` to ``out[at]``, repeated indices included; rows are sorted and summed in runs."""
    if out.dtype.kind == "b":
        apply_at(xp, "logical_or", out, at, values)
        return
    first = at[0]
    several = len(at) > 1 or first.ndim != 1 or first.dtype.kind == "b"
    if several or xp.__name__ != "numpy" or out.ndim == 1 or not values.size:
        apply_at(xp, "add", out, at, values)
        return
    rows = first % out.shape[0]
    order = xp.argsort(rows, kind="stable")
    rows = rows[order]
    starts = xp.flatnonzero(xp.concatenate([[True], rows[1:] != rows[:-1]]))
    out[rows[starts]] += xp.add.reduceat(values[order], starts, axis=0)


def _put_add(xp: Any, g: Any, indices: Any, size: Any) -> Any:
    out = xp.zeros(tuple(size), g.dtype)
    add_at(xp, out, positions(out.shape, indices), g)
    return out


index_put_add: Op = kernel(
    "index_put_add(Tensor grad, Tensor?[] indices, int[] size) -> Tensor",
    infer=lambda grad, indices, size: Meta(tuple(size), grad.dtype),
    impl=_put_add,
    vjp={"grad": lambda g, indices: index(g, indices)},
    jvp=LINEAR,
    namespace="-",
    outside=True,
    doc="Zeros of `size` with `grad` added at the indices.",
)


def _put_infer(input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool) -> Meta:
    for t in indices:
        check_index(t)
    if any(is_mask(t) for t in indices):
        if values.numel() != 1:
            raise ShapeDependsOnValuesError("a mask's indices must be known before they are used")
        _check_masks(input, indices)
    else:
        shape = _Plan(input.shape, indices).shape
        want = list(values.shape)
        try:
            fits = broadcast_shapes(tuple(want), shape) == shape
        except RuntimeError:
            fits = False
        if not fits:
            raise RuntimeError(
                f"shape mismatch: value tensor of shape {want} cannot be broadcast to indexing result "
                f"of shape {list(shape)}"
            )
    if input.dtype is not values.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{input.dtype.title} for the destination and {values.dtype.title} for the source."
        )
    return Meta(tuple(input.shape), input.dtype, preserved_strides(input))


def _check_masks(x: Tensor, indices: Sequence[Any]) -> None:
    d = 0
    for t in indices:
        width = t.ndim if is_mask(t) else 1
        if is_mask(t):
            for k in range(width):
                if d + k >= x.ndim or t.shape[k] != x.shape[d + k]:
                    raise IndexError(
                        f"The shape of the mask {list(t.shape)} at index {k} does not match the shape of "
                        f"the indexed tensor {list(x.shape)} at index {d + k}"
                    )
        d += width


def _put_impl(xp: Any, a: Any, indices: Any, values: Any, accumulate: bool) -> Any:
    masks = _masks(xp, indices)
    if xp is not np and sum(masks) == 1 == sum(t is not None for t in indices):
        # where it is true, without asking how often
        d = masks.index(True)
        mask = indices[d].astype(bool)
        mask = mask.reshape((1,) * d + mask.shape + (1,) * (a.ndim - d - mask.ndim))
        return xp.where(mask, a + values.reshape(()) if accumulate else values.reshape(()), a)
    out = a.copy()
    at, values = _places(xp, a, indices, values)
    if accumulate:
        add_at(xp, out, at, xp.broadcast_to(values, out[at].shape))
    else:
        out[at] = values
    return out


def _places(xp: Any, a: Any, indices: Any, values: Any) -> tuple[tuple[Any, ...], Any]:
    """Array indices for NumPy, and the values to write there: one number under masks."""
    masks = _masks(xp, indices)
    if not any(masks):
        return positions(a.shape, indices), values
    at = (
        slice(None) if t is None else t.astype(bool) if m else t for t, m in zip(indices, masks, strict=True)
    )
    return tuple(at), values.reshape(())


def _masks(xp: Any, indices: Any) -> list[bool]:
    return [t is not None and (t.dtype.kind == "b" or t.dtype == xp.uint8) for t in indices]


def _put_expanded(xp: Any, out: Any, indices: Any, values: Any, accumulate: bool) -> None:
    """Write one element after another: the last one stays, or all are added."""
    memory = memory_of(out)
    at, values = _places(xp, out, indices, values)
    each = xp.broadcast_to(xp.arange(memory.size).reshape(memory.shape), out.shape)[at]
    values = xp.broadcast_to(values, each.shape).reshape(-1)
    flat = memory.reshape(-1)
    if accumulate:
        apply_at(xp, "logical_or" if out.dtype.kind == "b" else "add", flat, each.reshape(-1), values)
    else:
        flat[each.reshape(-1)] = values


def _put_kept(g: Any, indices: Any, accumulate: bool) -> Any:
    return g if accumulate else put(g, indices, zeros([], dtype=g.dtype))


def _put_read(g: Any, indices: Any, values_meta: Any) -> Any:
    if not any(is_mask(t) for t in indices):
        return index(g, indices)
    written = put(zeros(list(g.shape), dtype=dtypes.bool_), indices, create.full([], True))
    return where(written, g, 0.0).sum()  # a gradient that is not finite beside the mask is no part of it


def _mask_first(target: Any, x: Any, others: Any) -> bool:
    """Whether `x` is the single value stored under a mask: a number, read before anything is written."""
    given = [i for i in others[0] if i is not None]
    return len(given) == 1 and given[0].dtype.category == BOOL and x is others[1] and x.numel() == 1


def _put_warnings(input: Any, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Sequence[str]:
    """What PyTorch warns of, which fills one number in under one mask."""
    filled = not accumulate and _mask_first(input, values, (indices, values))
    return [_PUT, MASKED] if filled else [_PUT]


put: Op = kernel(
    "index_write(Tensor input, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    infer=_put_infer,
    impl=_put_impl,
    waits=True,
    vjp={"input": _put_kept, "values": _put_read},
    jvp=LINEAR,
    node="IndexPutBackward0",
    inplace=InPlace(expanded=_put_expanded, warnings=_put_warnings),
    namespace="-",
    outside=True,
    doc="A copy with elements written at index tensors; masks are allowed if one value is written.",
    reads_first=_mask_first,
)
put_ = put.inplace


def _ready(input: Tensor, indices: Sequence[Any], values: Tensor) -> list[Any]:
    return list(indices) if values.numel() == 1 else without_masks(input, indices)


index_put = composite(
    "index_put(Tensor input, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    body=lambda input, indices, values, accumulate: put(
        input, _ready(input, indices, values), values, accumulate
    ),
    inline=True,
    method=True,
    doc="A copy with elements replaced, or added to, at index tensors (torch.index_put).",
    autocast={"cuda": "widest"},
)


def _index_put_(input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool) -> Any:
    assert put_ is not None
    return put_(input, _ready(input, indices, values), values, accumulate)


index_put_ = composite(
    "index_put_(Tensor(a!) input, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)",
    body=_index_put_,
    inline=True,
    method=True,
    namespace="-",
    doc="The in-place form of `index_put`.",
)
