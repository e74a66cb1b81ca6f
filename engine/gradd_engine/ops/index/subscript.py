"""Square brackets: x[key] and x[key] = v as chains of select, slice, unsqueeze, index, copy_ and index_put_.

The same syntax as data, for other languages: a list with, for each axis, an int, a bool, None, "...",
["slice", start, stop, step] or ["input", k] (the k-th tensor, from 1).
Source: https://pytorch.org/docs/stable/tensor_view.html and observed graphs.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import Meta, ambient, dtypes
from ...declare import attach_as_is, composite
from ...declare import view as view_op
from ...schema import type_name
from ...tensor import Tensor
from ..shape import assign_, copy_, expand, unsqueeze, view
from ..shared import constants as create
from . import dynamic, indexing
from .indexing import index, is_mask, put_, without_masks
from .slicing import select, slice_, slice_range, unbind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema import Op

_ALLOWED = "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices"


alias: Op = view_op(
    "alias(Tensor(a) input) -> Tensor(a)",
    infer=lambda input: Meta(tuple(input.shape), input.dtype, input.strides, input.offset),
    vjp=lambda g: g,
    namespace="-",
    outside=True,
    doc="The same tensor as a view: x[...].",
    relative=True,
)


def _is_tuple(key: Any) -> bool:
    """Whether a list counts as a tuple of indices, as it still does in PyTorch."""
    if not isinstance(key, list) or len(key) >= 32:
        return False
    return any(
        e is None or e is Ellipsis or isinstance(e, (slice, list, tuple, Tensor, np.ndarray)) for e in key
    )


def _entry(e: Any, x: Tensor) -> Any:
    """One index: a bool, int, slice, None, Ellipsis or tensor; IndexError for anything else."""
    if e is None or e is Ellipsis or isinstance(e, (bool, slice, Tensor)):
        return e
    if isinstance(e, (list, tuple, range, np.ndarray)):
        return indexing.as_tensor(list(e) if isinstance(e, range) else e, x)
    if isinstance(e, (np.bool_,)):
        return bool(e)
    try:
        return operator.index(e)
    except TypeError:
        raise IndexError(f"{_ALLOWED} (got {type(e).__name__})") from None


def _entries(key: Any, x: Tensor) -> list[Any]:
    keys = key if isinstance(key, tuple) or _is_tuple(key) else (key,)
    out = [_entry(e, x) for e in keys]
    used = sum(_width(e) for e in out)
    if used > x.ndim:
        alone = not x.ndim and not isinstance(key, tuple)
        if alone and isinstance(out[0], int):
            if out[0]:
                raise IndexError(f"index {out[0]} is out of bounds for dimension 0 with size 0")
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in "
                "C++ to convert a 0-dim tensor to a number"
            )
        if alone and isinstance(out[0], slice):
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        raise IndexError(f"too many indices for tensor of dimension {x.ndim}")
    return out


def _width(e: Any) -> int:
    """How many dimensions an index consumes."""
    if e is None or e is Ellipsis or isinstance(e, bool):
        return 0
    return e.ndim if isinstance(e, Tensor) and is_mask(e) else 1


def _bounds(s: slice, size: int) -> tuple[int, int, int]:
    """(start, length, step) of a slice over `size` elements."""
    try:
        step = 1 if s.step is None else operator.index(s.step)
        start = None if s.start is None else operator.index(s.start)
        stop = None if s.stop is None else operator.index(s.stop)
    except TypeError:
        raise TypeError("slice indices must be integers or None or have an __index__ method") from None
    return *slice_range(start, stop, step, size), step


def _selected(x: Any, dim: int, i: int, place: int) -> Any:
    size = x.shape[dim]
    if not -size <= i < size:
        raise IndexError(f"index {i} is out of bounds for dimension {place} with size {size}")
    return select(x, dim, i)


def _covered(x: Any, yes: bool) -> Any:
    """The index tensor for a bool in brackets: one element if `yes`, otherwise none."""
    with ambient(backend=x.backend):
        return create.zeros([1 if yes else 0], dtype=dtypes.int64)


def apply(
    x: Any, entries: Sequence[Any], plain_slice: bool = False, waits: bool = True
) -> tuple[Any, list[Any]]:
    """`x` with ints, slices, None and bools applied, and the remaining index tensors, one per dimension.

    `plain_slice`: a full slice makes a view of its own. `waits`: indices of no dimension are read, and select
    as ints do, even if their values are not here.
    """
    indices: list[Any] = []
    dim = 0
    skipped = x.ndim - sum(_width(e) for e in entries)
    for place, e in enumerate(entries):
        if isinstance(e, bool):
            x = unsqueeze(x, dim)
            if not (len(entries) == 1 and e and not plain_slice):
                indices += [None] * (dim - len(indices)) + [_covered(x, e)]
            dim += 1
        elif isinstance(e, int):
            x = _selected(x, dim, e, place)
        elif isinstance(e, slice):
            start, length, step = _bounds(e, x.shape[dim])
            if plain_slice or start or length != x.shape[dim] or step != 1:
                x = slice_(x, dim, start, length, step)
            dim += 1
        elif e is None:
            x = unsqueeze(x, dim)
            dim += 1
        elif e is Ellipsis:
            dim += skipped
        elif not e.ndim and e.dtype.category <= dtypes.INT and not _differs(e) and (waits or not _afar(e)):
            if is_mask(e):
                x = unsqueeze(x, dim)
                indices += [None] * (dim - len(indices)) + [_covered(x, bool(dynamic.read(e)))]
                dim += 1
            else:
                x = _selected(x, dim, int(dynamic.read(e)), place)
        else:
            width = _width(e)
            indices += [None] * (dim - len(indices)) + [e] + [_SPAN] * (width - 1)
            dim += width
    return x, indices


def _differs(e: Tensor) -> bool:
    """Whether an index differs between the samples of a vmap, so it cannot be read as a number."""
    return bool(e.backend.level and e.mapped and not is_mask(e))  # type: ignore[attr-defined]


def _afar(e: Tensor) -> bool:
    """Whether an index has to be asked for."""
    return not is_mask(e) and not getattr(e, "_at_hand", True)


class _Span:
    """Marks a dimension covered by the preceding mask."""


_SPAN = _Span()


def _tensors(indices: Sequence[Any]) -> list[Any]:
    return [t for t in indices if t is not _SPAN]


def getitem(x: Any, key: Any) -> Any:
    """``x[key]``."""
    kind = key.__class__
    if (kind is slice or kind is int) and x.shape:
        size, *_ = x.shape
        return slice_(x, 0, *_bounds(key, size)) if kind is slice else _selected(x, 0, key, 0)
    entries = _entries(key, x)
    alone = len(entries) == 1 and not isinstance(key, tuple)
    found, indices = apply(x, entries, plain_slice=alone)
    if indices:
        return index(found, without_masks(found, _tensors(indices)))
    return alias(found) if found is x else found


def _value(x: Any, value: Any) -> Any:
    if isinstance(value, (Tensor, bool, int, float, complex)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"can't assign a {type_name(value)} to a {x.dtype.tensor_type}")


def _without_leading_ones(shape: Sequence[int]) -> list[int]:
    lead = 0
    while lead < len(shape) and shape[lead] == 1:
        lead += 1
    return list(shape[lead:])


def _store(target: Any, value: Any) -> None:
    assert copy_ is not None
    assert assign_ is not None
    if not target.ndim and not isinstance(value, Tensor) and target.requires_grad:
        # a number counts as a tensor, and the history shows it
        with ambient(backend=target.backend):
            # through float64 if the target is half-precision
            value = create.full([], value, dtype=dtypes.float64 if target.dtype.is_half else target.dtype)
    if not isinstance(value, Tensor) or (not value.ndim and target.ndim):
        assign_(target, value)
    elif tuple(value.shape) == tuple(target.shape):
        copy_(target, value)
    else:
        value = view(value, _without_leading_ones(value.shape))
        copy_(target, value if value.shape == target.shape else expand(value, list(target.shape)))


def setitem(x: Any, key: Any, value: Any) -> None:
    """``x[key] = value`` for a number or a tensor that broadcasts to the selected part."""
    value = _value(x, value)
    if key is False:
        return
    entries = _entries(key, x)
    # A part is written to as a view of it, unless its place is not known here, and no history would tell.
    waits = (
        x.requires_grad
        or bool(x.backend.level)
        or any(isinstance(e, Tensor) and e.ndim for e in entries)
        or (isinstance(value, Tensor) and value.requires_grad)
    )
    target, indices = apply(x, entries, waits=waits)
    if not indices:
        _store(target, value)
        return
    if not isinstance(value, Tensor):
        with ambient(backend=x.backend):
            value = create.full([], value, dtype=x.dtype)
    if value.ndim and value.shape[0] == 1:
        value = view(value, _without_leading_ones(value.shape))
    tensors = _tensors(indices)
    assert put_ is not None
    put_(target, tensors if value.numel() == 1 else without_masks(target, tensors), value)


# -- as data ---------------------------------------------------------------------------------------


def _decoded(index: Sequence[Any], tensors: Sequence[Any]) -> tuple[Any, ...]:
    """The Python key of an index written as data; IndexError if it is invalid."""
    out: list[Any] = []
    for e in index:
        if isinstance(e, dict):
            (kind, value), *_ = e.items()
            e = [kind, value] if kind == "input" else [kind, *value]
        if e == "...":
            out.append(Ellipsis)
        elif isinstance(e, (list, tuple)) and len(e) == 4 and e[0] == "slice":
            out.append(slice(*e[1:]))
        elif isinstance(e, (list, tuple)) and len(e) == 2 and e[0] == "input":
            k = e[1]
            if not isinstance(k, int) or not 1 <= k <= len(tensors):
                raise IndexError(f"index names input {k}, but there are {len(tensors)}")
            out.append(tensors[k - 1])
        elif e is None or isinstance(e, (bool, int, slice)) or e is Ellipsis:
            out.append(e)
        else:
            raise IndexError(f"{_ALLOWED} (got {type(e).__name__})")
    return tuple(out)


getitem_op = composite(
    "getitem(Tensor input, Tensor?[] indices=[], *, index index) -> Tensor",
    body=lambda input, indices, index: getitem(input, _decoded(index, indices)),
    inline=True,
    dynamic=True,
    namespace="-",
    outside=True,
    doc="input[index] (torch.Tensor.__getitem__).",
)


def _setitem(input: Tensor, indices: Sequence[Any], value: Any, index: Sequence[Any]) -> Tensor:
    setitem(input, _decoded(index, indices), value)
    return input


setitem_op = composite(
    "setitem(Tensor(a!) input, Tensor?[] indices, Tensor|Number value, *, index index) -> ()",
    body=_setitem,
    inline=True,
    namespace="-",
    outside=True,
    doc="input[index] = value (torch.Tensor.__setitem__).",
)


def _iterate(self: Any) -> Any:
    """The slices along the first dimension, as torch.unbind returns them."""
    if not self.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return iter(unbind(self, 0))


def _delete(self: Tensor, key: Any) -> None:
    raise TypeError("Tensor does not support deleting items")


_METHODS: dict[str, Any] = {
    "__getitem__": getitem, "__setitem__": setitem, "__delitem__": _delete, "__iter__": _iterate,
}  # fmt: skip
for _name, _fn in _METHODS.items():
    attach_as_is(_name, _fn)
