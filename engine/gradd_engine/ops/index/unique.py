"""Distinct elements. Their count is read; there is no derivative."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, contiguous_strides, dtypes, numel, wrap_dim
from ...declare import kernel, public
from ...schema import Op
from ..shared import refuse
from . import dynamic

if TYPE_CHECKING:
    from ...tensor import Tensor


def _rows(xp: Any, a: Any, dim: int | None) -> Any:
    """What is compared, as rows: elements, or slices along `dim`."""
    if dim is None:
        return a.reshape(a.size, 1)
    rows = xp.moveaxis(a, dim, 0) if a.ndim else a.reshape(1)
    return rows.reshape(rows.shape[0], numel(rows.shape[1:]))


def _starts(xp: Any, rows: Any) -> Any:
    """Where a row differs from the one before; nan differs from nan."""
    changed = (rows[1:] != rows[:-1]).any(axis=1)
    return xp.concatenate([xp.ones(min(len(rows), 1), bool), changed])


def _order(xp: Any, rows: Any, ordered: bool) -> Any:
    if not ordered:
        return xp.arange(len(rows))
    if not rows.shape[1]:
        return xp.arange(len(rows))
    return xp.lexsort(rows.T[::-1])


def _found(xp: Any, a: Any, dim: int | None, ordered: bool) -> tuple[Any, Any, Any]:
    """The index of each distinct row's first occurrence, the group of every row, and the group sizes."""
    rows = _rows(xp, a, dim)
    order = _order(xp, rows, ordered)
    starts = _starts(xp, rows[order])
    kinds = xp.empty(len(rows), xp.int64)
    kinds[order] = xp.cumsum(starts) - 1
    first = order[xp.flatnonzero(starts)]
    return first, kinds, xp.bincount(kinds, minlength=len(first)) if len(rows) else kinds


count_distinct: Op = kernel(
    "count_distinct(Tensor input, int? dim, bool ordered) -> Tensor",
    infer=lambda input, dim, ordered: Meta((), dtypes.int64),
    impl=lambda xp, a, dim, ordered: len(_found(xp, a, dim, ordered)[0]),
    namespace="-",
    outside=True,
    doc="How many distinct elements or slices along `dim` there are; unless `ordered`, how many runs.",
    waits=True,
)


def _infer(input: Tensor, count: int, dim: int | None, ordered: bool) -> list[Meta]:
    refuse(input.dtype, "unique", complex=True)
    if dim is None:
        return [
            Meta((count,), input.dtype),
            Meta(tuple(input.shape), dtypes.int64),
            Meta((count,), dtypes.int64),
        ]
    shape, strides = list(input.shape), []
    if shape:
        # each slice is contiguous
        shape[dim] = count
        strides = list(contiguous_strides([count, *shape[:dim], *shape[dim + 1 :]]))
        strides.insert(dim, strides.pop(0))
    kept = tuple(input.shape[dim : dim + 1])
    values = Meta(tuple(shape), input.dtype, tuple(strides))
    return [values, Meta(kept, dtypes.int64), Meta((count,), dtypes.int64)]


def _impl(xp: Any, a: Any, count: int, dim: int | None, ordered: bool) -> Any:
    first, kinds, counts = _found(xp, a, dim, ordered)
    if len(first) != count:
        raise RuntimeError(f"expected {count} distinct elements, but there are {len(first)}")
    if dim is None:
        return a.reshape(-1)[first], kinds.reshape(a.shape), counts
    values = xp.take(a, first, axis=dim) if a.ndim else a.copy()
    return values, kinds.reshape(a.shape[dim : dim + 1]), counts


def _names(attrs: dict[str, Any]) -> tuple[str, str]:
    if not attrs["ordered"]:
        return "unique_consecutive", "UniqueConsecutiveBackward0"
    return ("_unique2", "Unique2Backward0") if attrs["dim"] is None else ("unique_dim", "UniqueDimBackward0")


def _refusal(attrs: dict[str, Any]) -> Exception:
    return NotImplementedError(f"the derivative for '{_names(attrs)[0]}' is not implemented.")


distinct: Op = kernel(
    "distinct(Tensor input, int count, int? dim, bool ordered)"
    " -> (Tensor output, const Tensor inverse_indices, const Tensor counts)",
    infer=_infer,
    impl=_impl,
    refuses=_refusal,
    node=lambda attrs: _names(attrs)[1],
    namespace="-",
    outside=True,
    doc="The `count` distinct elements or slices, the group of each element, and the group sizes; unless "
    "`ordered`, runs of equal ones.",
    waits=True,
)


def _all(input: Tensor, dim: int | None, ordered: bool, inverse: bool, counts: bool) -> Any:
    refuse(input.dtype, "unique", complex=True)
    at = None if dim is None else wrap_dim(dim, input.ndim)
    count = int(dynamic.read(count_distinct(input, at, ordered)))
    values, kinds, numbers = distinct(input, count, at, ordered)
    found = (values, *([kinds] if inverse else []), *([numbers] if counts else []))
    return found if len(found) > 1 else values


@public(
    method=True,
    numpy_names=False,
    forms=(
        "(input, sorted=True, *, dim=None)",
        "(input, sorted=True, return_inverse=False, return_counts=False, dim=None) -> Any",
    ),
)
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """See torch.unique; elements are always sorted, whatever `sorted` says, as in PyTorch on a CPU."""
    return _all(input, dim, True, return_inverse, return_counts)


@public(
    method=True,
    numpy_names=False,
    forms=("(input, *, dim=None)", "(input, return_inverse=False, return_counts=False, dim=None) -> Any"),
)
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Each run of equal elements once, with their groups and run lengths if requested
    (torch.unique_consecutive).
    """
    return _all(input, dim, False, return_inverse, return_counts)
