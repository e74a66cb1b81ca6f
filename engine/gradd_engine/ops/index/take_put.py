"""Elements at row-major positions: take and put."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, preserved_strides, within
from ...declare import LINEAR, kernel
from ...kernels import apply_at
from ...schema import Op
from ..shape import reshape
from ..shared import zeros

if TYPE_CHECKING:
    from ...tensor import Tensor


def _long(index: Tensor, name: str) -> None:
    if index.dtype is not dtypes.int64:
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {index.dtype.title}")


def _inside(index: Any, size: int) -> None:
    """Raise IndexError if an index is outside [-size, size)."""
    text = f"out of range: tried to access index {{}} on a tensor of {size} elements."
    within(index, -size, size, IndexError, text, "take or put")


def _take_infer(input: Tensor, index: Tensor) -> Meta:
    _long(index, "take")
    if not input.numel() and index.numel():
        raise IndexError("take(): tried to take from an empty tensor")
    return Meta(tuple(index.shape), input.dtype)


def _take(xp: Any, a: Any, index: Any) -> Any:
    _inside(index, a.size)
    return a.reshape(-1)[index]


take: Op = kernel(
    "take(Tensor input, Tensor index) -> Tensor",
    infer=_take_infer,
    impl=_take,
    vjp={"input": lambda g, input, index: put(zeros(list(input.shape), dtype=g.dtype), index, g, True)},
    jvp=LINEAR,
    method=True,
    doc="The elements at row-major positions (torch.take).",
)


def _put_infer(input: Tensor, index: Tensor, source: Tensor, accumulate: bool) -> Meta:
    _long(index, "put_")
    if input.dtype is not source.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{input.dtype.title} and source.dtype = {source.dtype.title}"
        )
    if source.numel() != index.numel():
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.numel()}, index.numel() = {index.numel()}"
        )
    return Meta(tuple(input.shape), input.dtype, preserved_strides(input))


def _put(xp: Any, a: Any, index: Any, source: Any, accumulate: bool) -> Any:
    _inside(index, a.size)
    out = a.reshape(-1).copy()
    at, values = index.reshape(-1), source.reshape(-1)
    if accumulate:
        apply_at(xp, "logical_or" if out.dtype.kind == "b" else "add", out, at, values)
    else:
        out[at] = values
    return out.reshape(a.shape)


put: Op = kernel(
    "put(Tensor input, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
    infer=_put_infer,
    impl=_put,
    vjp={
        "input": lambda g, index, source, accumulate: (
            g if accumulate else put(g, index, zeros(list(source.shape), dtype=g.dtype))
        ),
        "source": lambda g, index, source: reshape(take(g, index), list(source.shape)),
    },
    jvp=LINEAR,
    method=True,
    inplace=True,
    doc="A copy with elements written, or added, at row-major positions (torch.Tensor.put_).",
)
