"""Arrays from data and sizes.

https://data-apis.org/array-api/latest/API_specification/creation_functions.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gradd._top as ops

from .._surface import asarray as _asarray
from .._surface import from_dlpack as _from_dlpack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_engine.data import DType

    from .._tensor import Tensor

    Shape = int | Sequence[int]


def _size(shape: Shape) -> list[int]:
    return [shape] if isinstance(shape, int) else list(shape)


def asarray(
    obj: Any, /, *, dtype: DType | None = None, device: Any = None, copy: bool | None = None
) -> Tensor:
    """An array of numbers, nested sequences of them, or another array. ValueError where `copy` is False and
    one is needed: what is not in the session already has to go there.
    """
    return _asarray(obj, dtype=dtype, device=device, copy=copy)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """An array of another library; see `gradd.from_dlpack`."""
    return _from_dlpack(x, device=device, copy=copy)


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: DType | None = None, device: Any = None
) -> Tensor:
    """Evenly spaced numbers of [start, stop); none where `step` leads away from `stop`."""
    first, last = (0, start) if stop is None else (start, stop)
    if step and (step > 0) != (last > first):
        last = first
    return ops.arange(first, last, step, dtype=dtype, device=device)


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: DType | None = None, device: Any = None,
    endpoint: bool = True,
) -> Tensor:  # fmt: skip
    """`num` evenly spaced numbers from `start` to `stop`, which is the last of them if `endpoint`."""
    if endpoint:
        return ops.linspace(start, stop, num, dtype=dtype, device=device)
    return ops.linspace(start, stop, num + 1, dtype=dtype, device=device)[:num]


def empty(shape: Shape, *, dtype: DType | None = None, device: Any = None) -> Tensor:
    """An array of that shape; its elements are undefined."""
    return ops.empty(_size(shape), dtype=dtype, device=device)


def zeros(shape: Shape, *, dtype: DType | None = None, device: Any = None) -> Tensor:
    """Zeros of that shape."""
    return ops.zeros(_size(shape), dtype=dtype, device=device)


def ones(shape: Shape, *, dtype: DType | None = None, device: Any = None) -> Tensor:
    """Ones of that shape."""
    return ops.ones(_size(shape), dtype=dtype, device=device)


def full(shape: Shape, fill_value: Any, *, dtype: DType | None = None, device: Any = None) -> Tensor:
    """`fill_value` everywhere; its dtype is that of the number."""
    return ops.full(_size(shape), fill_value, dtype=dtype, device=device)


def empty_like(x: Tensor, /, *, dtype: DType | None = None, device: Any = None) -> Tensor:
    """An array of the shape of `x`; its elements are undefined."""
    return ops.empty_like(x, dtype=dtype, device=device)


def zeros_like(x: Tensor, /, *, dtype: DType | None = None, device: Any = None) -> Tensor:
    """Zeros of the shape of `x`."""
    return ops.zeros_like(x, dtype=dtype, device=device)


def ones_like(x: Tensor, /, *, dtype: DType | None = None, device: Any = None) -> Tensor:
    """Ones of the shape of `x`."""
    return ops.ones_like(x, dtype=dtype, device=device)


def full_like(x: Tensor, /, fill_value: Any, *, dtype: DType | None = None, device: Any = None) -> Tensor:
    """`fill_value` everywhere, of the shape of `x`."""
    return ops.full_like(x, fill_value, dtype=dtype, device=device)


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: DType | None = None, device: Any = None
) -> Tensor:
    """Ones on the `k`-th diagonal, zeros elsewhere."""
    columns = n_rows if n_cols is None else n_cols
    made = ops.zeros([n_rows, columns], dtype=dtype, device=device)
    if -n_rows < k < columns:
        made.diagonal(k).fill_(1)
    return made


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> tuple[Tensor, ...]:
    """The coordinates of a grid, from those of its axes."""
    return tuple(ops.meshgrid(*arrays, indexing=indexing))


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """`x` with zeros above the `k`-th diagonal."""
    return ops.tril(x, k)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """`x` with zeros below the `k`-th diagonal."""
    return ops.triu(x, k)
