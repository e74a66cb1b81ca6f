"""Ops whose result shapes depend on values, such as nonzero and masked_select.

`read` is the only way for an op to get a value that decides a shape: from the array, or from a client's
tensor, whose `item` fetches it. The ops below take the size as an argument, so recorded programs have fixed
shapes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import Meta, broadcast_shapes, dtypes, numel
from ...declare import LINEAR, composite, kernel, public
from ...schema import named
from ..elementwise import where
from ..shape import expand, reshape
from ..shared import zeros

if TYPE_CHECKING:
    from ...schema import Op
    from ...tensor import Tensor


class ShapeDependsOnValuesError(RuntimeError):
    """A shape depends on values, and there are none (meta tensors)."""


def read(t: Tensor) -> Any:
    """The value of a one-element tensor as a Python number."""
    if t.backend.level:
        return read(t.backend.only(t))  # type: ignore[attr-defined]
    if hasattr(t, "item"):
        return t.item()
    if t.array is None:
        raise ShapeDependsOnValuesError(
            "the shape of the result depends on values, and meta tensors have none"
        )
    return t.array.item()


def every_sample(t: Tensor) -> Tensor:
    """`t`, or within vmap all its samples: what a check of values must cover."""
    while t.backend.level:
        t = t.array
    return t


nonzero_count = kernel(
    "nonzero_count(Tensor input) -> Tensor",
    infer=lambda input: Meta((), dtypes.int64),
    impl=lambda xp, a: xp.count_nonzero(a),
    namespace="-",
    outside=True,
    doc="The number of nonzero elements.",
)


def count(t: Tensor) -> int:
    """The number of nonzero elements of `t`, read at once."""
    return int(read(nonzero_count(t)))


def _rows(xp: Any, a: Any, count: int) -> Any:
    # counted first: a result of another size has no room
    found = int(xp.count_nonzero(a))
    if found != count:
        raise RuntimeError(f"expected {count} elements that are not zero, but there are {found}")
    return xp.stack(xp.nonzero(a), axis=1) if a.ndim else xp.zeros((count, 0), xp.int64)


nonzero_rows = kernel(
    "nonzero_rows(Tensor input, int count) -> Tensor",
    infer=lambda input, count: Meta((count, input.ndim), dtypes.int64, (1, count)),
    impl=_rows,
    namespace="-",
    outside=True,
    doc="The indices of the `count` nonzero elements, one per row, in row-major order.",
    waits=True,
)

nonzero_op = composite(
    "nonzero(Tensor input) -> Tensor",
    body=lambda input: nonzero_rows(input, count(input)),
    dynamic=True,
    inline=True,
    doc="The indices of nonzero elements, one per row (torch.nonzero).",
)


@public(
    out=True,
    method=True,
    forms=(
        "(input, *, as_tuple: Literal[False] = False)",
        "(input, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]",
    ),
)
def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """See torch.nonzero."""
    if not as_tuple:
        return nonzero_op(input)
    return tuple(named.unbind(nonzero_op(reshape(input, [1]) if not input.ndim else input), 1))


def _static_rows(xp: Any, a: Any, size: int, fill_value: int) -> Any:
    found = xp.full((size, a.ndim), fill_value, xp.int64)
    if a.ndim:
        for d, places in enumerate(xp.nonzero(a)):
            found[: len(places), d] = places[:size]
    return found


def _static_infer(input: Tensor, size: int, fill_value: int) -> Meta:
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    return Meta((size, input.ndim), dtypes.int64)


nonzero_static = kernel(
    "nonzero_static(Tensor input, *, int size, int fill_value=-1) -> Tensor",
    infer=_static_infer,
    impl=_static_rows,
    cost=lambda input, size, fill_value: (8 * input.numel(), 16 * input.numel() * max(input.ndim, 1)),
    method=True,
    raises=False,
    doc="The indices of the first `size` nonzero elements, one per row, then rows of `fill_value` "
    "(torch.nonzero_static).",
    waits=True,
)


@public(method=True)
def argwhere(input: Any) -> Any:
    """The indices of nonzero elements, one per row: int64 of shape (count, ndim) (torch.argwhere)."""
    return nonzero_op(input)


def bool_mask(mask: Tensor, name: str) -> None:
    """Raise RuntimeError if a mask is not bool."""
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError(
            f"{name}: expected BoolTensor for mask"
            if name == "masked_select"
            else f"{name} only supports boolean masks, but got mask with dtype {mask.dtype.title}"
        )


def _masked_rows_impl(xp: Any, a: Any, mask: Any, count: int) -> Any:
    shape = np.broadcast_shapes(a.shape, mask.shape)
    chosen = xp.broadcast_to(mask, shape)
    found = int(xp.count_nonzero(chosen))
    if found != count:
        raise RuntimeError(f"expected {count} elements under the mask, but there are {found}")
    return xp.broadcast_to(a, shape)[chosen]


def _masked_rows_backward(g: Any, input: Any, mask: Any) -> Any:
    shape = list(broadcast_shapes(tuple(input.shape), tuple(mask.shape)))
    return masked_scatter(zeros(shape, dtype=g.dtype), mask, g)


masked_rows: Op = kernel(
    "masked_rows(Tensor input, Tensor mask, int count) -> Tensor",
    infer=lambda input, mask, count: Meta((count,), input.dtype),
    impl=_masked_rows_impl,
    vjp={"input": _masked_rows_backward},
    jvp=LINEAR,
    node="MaskedSelectBackward0",
    namespace="-",
    outside=True,
    doc="The `count` elements that the mask selects.",
    waits=True,
)


def _masked_select(input: Tensor, mask: Tensor) -> Any:
    bool_mask(mask, "masked_select")
    shape = broadcast_shapes(tuple(input.shape), tuple(mask.shape))
    whole = mask if tuple(mask.shape) == shape else expand(mask, list(shape))
    return masked_rows(input, mask, count(whole))


masked_select = composite(
    "masked_select(Tensor input, Tensor mask) -> Tensor",
    body=_masked_select,
    dynamic=True,
    inline=True,
    out=True,
    method=True,
    doc="The elements that a mask selects, as a vector (torch.masked_select).",
    shaped_by="mask",
)


def _masked_scatter_infer(input: Tensor, mask: Tensor, source: Tensor) -> Meta:
    bool_mask(mask, "masked_scatter_")
    if input.dtype is not source.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got{input.dtype.title} and "
            f"{source.dtype.title}"
        )
    return Meta(broadcast_shapes(tuple(mask.shape), tuple(input.shape)), input.dtype)


def _masked_scatter_impl(xp: Any, a: Any, mask: Any, source: Any) -> Any:
    shape = np.broadcast_shapes(a.shape, mask.shape)
    out, where = xp.broadcast_to(a, shape).copy(), xp.broadcast_to(mask, shape)
    wanted = int(where.sum())
    if wanted > source.size:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    out[where] = source.reshape(-1)[:wanted]
    return out


def _masked_kept(g: Any, mask: Any) -> Any:
    return where(mask, 0.0, g)


masked_scatter: Op = kernel(
    "masked_scatter(Tensor input, Tensor mask, Tensor source) -> Tensor",
    infer=_masked_scatter_infer,
    impl=_masked_scatter_impl,
    vjp={
        "input": _masked_kept,
        "source": lambda g, mask, source_meta: masked_gather(g, mask, list(source_meta.shape)),
    },
    jvp=LINEAR,
    method=True,
    inplace=True,
    doc="A copy with the masked elements replaced by those of `source`, in order (torch.masked_scatter).",
    waits=True,
)


def _masked_gather_impl(xp: Any, g: Any, mask: Any, size: Any) -> Any:
    found = g[xp.broadcast_to(mask, g.shape)]
    out = xp.zeros(numel(size), g.dtype)
    out[: found.shape[0]] = found
    return out.reshape(size)


masked_gather: Op = kernel(
    "masked_gather(Tensor input, Tensor mask, int[] size) -> Tensor",
    infer=lambda input, mask, size: Meta(tuple(size), input.dtype),
    impl=_masked_gather_impl,
    vjp={
        "input": lambda g, input_meta, mask: masked_scatter(
            zeros(list(input_meta.shape), dtype=g.dtype), mask, g
        )
    },
    jvp=LINEAR,
    namespace="-",
    outside=True,
    doc="The elements that the mask selects, padded with zeros, in the shape `size`.",
    waits=True,
)
