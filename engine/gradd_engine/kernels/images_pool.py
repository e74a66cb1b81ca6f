"""Windows over planes [P, H, W]: maxima with indices, sums, and the transposes of both.

Windows are reduced in two steps, first along rows, then across them. A few planes are processed at a time,
shared by threads.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import numel, within
from .threads import share
from .ufuncs import apply_at
from .windows import Buffers, cell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: elements of the planes processed at a time
TILE = 1 << 17


def _positions(size: int, kernel: int, stride: int, pad: int, dilation: int, ceil_mode: bool) -> int:
    """The number of windows; in ceil mode the last may extend beyond the padding."""
    free = size + 2 * pad - dilation * (kernel - 1) - 1
    found = (free + (stride - 1 if ceil_mode else 0)) // stride + 1
    return found - 1 if ceil_mode and (found - 1) * stride >= size + pad else found


def out_shape(
    shape: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> tuple[int, ...]:
    """The shape with one value per window; RuntimeError if there are no windows."""
    lead, space = shape[: -len(kernel)], shape[-len(kernel) :]
    found = [
        _positions(*each, ceil_mode) for each in zip(space, kernel, stride, padding, dilation, strict=True)
    ]
    if min(found) < 1:
        had, gives = ("x".join(map(str, (lead[-1], *sizes))) for sizes in (space, [max(n, 0) for n in found]))
        raise RuntimeError(
            f"Given input size: ({had}). Calculated output size: ({gives}). Output size is too small"
        )
    return (*lead, *found)


def each_plane(xp: Any, planes: int, size: int, work: Callable[[slice, Buffers], None]) -> None:
    """Call `work` on batches of planes, each of `size` elements, that fit a core's cache."""
    step = max(1, TILE // max(size, 1)) if xp is np else max(planes, 1)
    begins = range(0, planes, step)

    def some(numbers: Iterator[int]) -> None:
        buffers = Buffers(xp)
        for number in numbers:
            work(slice(begins[number], min(begins[number] + step, planes)), buffers)

    share(xp, len(begins), planes * size, some)


def _reached(
    x: Any,
    places: Sequence[int],
    kernel: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    fill: Any,
    buffers: Any,
) -> Any:
    """The planes, padded, and extended at the end to cover the last windows."""
    ends = [
        (n - 1) * s + d * (k - 1) + 1 for n, k, s, d in zip(places, kernel, stride, dilation, strict=True)
    ]
    if not any(padding) and all(e <= s for e, s in zip(ends, x.shape[1:], strict=True)):
        return x
    whole = [max(e, s + p) for e, s, p in zip(ends, x.shape[1:], padding, strict=True)]
    found = buffers.filled("padded", (x.shape[0], *whole), x.dtype, fill)
    found[(slice(None), *(slice(p, p + s) for p, s in zip(padding, x.shape[1:], strict=True)))] = x
    return found


# -- maxima ----------------------------------------------------------------------------------------


def max_windows(
    xp: Any,
    x: Any,
    places: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> tuple[Any, Any]:
    """Maxima over windows, of shape `places` [H, W], and their flat indices into each plane.

    Ties go to the first; if there are nans, the last of them wins, as in PyTorch's loop.
    """
    (n, h, w), (kh, kw) = x.shape, kernel
    floats = x.dtype.kind == "f"
    lowest = -np.inf if floats else np.iinfo(x.dtype).min
    code = np.uint8 if kh * kw <= 256 else np.int64
    # A cell's code is its number in the window. If all values are the lowest, the first cell inside the plane
    # wins.
    begins = [xp.arange(m) * s - p for m, s, p in zip(places, stride, padding, strict=True)]
    first = [(xp.maximum(-b, 0) + d - 1) // d for b, d in zip(begins, dilation, strict=True)]
    from_row, from_column = (first[0] * kw).astype(code)[:, None], first[1].astype(code)
    origins = begins[0][:, None] * w + begins[1]
    offsets = (xp.arange(kh)[:, None] * (dilation[0] * w) + xp.arange(kw) * dilation[1]).reshape(-1)
    values = xp.empty((n, *places), x.dtype)
    index = xp.empty((n, *places), np.int64)

    def work(some: slice, buffers: Buffers) -> None:
        seen = _reached(x[some], places, kernel, stride, padding, dilation, lowest, buffers)
        rows = [cell(i, dilation[0], stride[0], places[0]) for i in range(kh)]
        columns = [cell(j, dilation[1], stride[1], places[1]) for j in range(kw)]
        # `at` is the cell's number within its row, `where` within the window; a later, greater cell replaces
        # it.
        best, at = seen[:, :, columns[0]], from_column
        for j in range(1, kw):
            more = xp.greater(seen[:, :, columns[j]], best).view(np.uint8)
            at = xp.maximum(at, more if j == 1 else more * code(j))
            best = xp.maximum(seen[:, :, columns[j]], best)
        at = xp.broadcast_to(at, best.shape)
        top, where = best[:, rows[0]], from_row + at[:, rows[0]]
        for i in range(1, kh):
            more = xp.greater(best[:, rows[i]], top).view(np.uint8)
            where = xp.maximum(where, more * (at[:, rows[i]] + code(i * kw)))
            top = xp.maximum(best[:, rows[i]], top, out=values[some] if i == kh - 1 else None)
        if kh == 1:
            values[some] = top
        if floats:
            nan = xp.isnan(top)
            if xp is not np or nan.any():
                for number, (row, column) in enumerate(product(rows, columns)):
                    where = xp.where(xp.isnan(seen[:, row, column]), code(number), where)
        xp.add(xp.take(offsets, where), origins, out=index[some])

    each_plane(xp, n, h * w, work)
    return values, index


def check_places(index: Any, size: int) -> None:
    """Raise RuntimeError if a flat index is outside planes of `size` elements."""
    within(index, 0, size, RuntimeError, f"index {{}} is outside of a plane of {size} elements", "pooling")


def add_at(xp: Any, x: Any, index: Any, size: Sequence[int]) -> Any:
    """Planes of `size` with `x` added at flat indices into each plane."""
    n, whole = x.shape[0], numel(size)
    check_places(index, whole)
    out = xp.empty((n, whole), x.dtype)
    begins = xp.arange(n)[:, None, None] * whole

    def work(some: slice, buffers: Buffers) -> None:
        planes = out[some]
        planes.fill(0)  # zeroed just before use, so it is in the cache
        places = (index[some] + begins[: some.stop - some.start]).reshape(-1)
        apply_at(xp, "add", planes.reshape(-1), (places,), x[some].reshape(-1))

    each_plane(xp, n, whole, work)
    return out.reshape(n, *size)


def put_at(xp: Any, x: Any, index: Any, size: Sequence[int]) -> Any:
    """Planes of zeros of `size` with `x` at flat indices into each plane; the last of several stays."""
    out = xp.zeros((x.shape[0], numel(size)), x.dtype)
    many = x.shape[0], numel(x.shape[1:])
    xp.put_along_axis(out, index.reshape(many), x.reshape(many), 1)
    return out.reshape(x.shape[0], *size)


def pick(xp: Any, x: Any, index: Any) -> Any:
    """The elements of each plane at flat indices."""
    check_places(index, numel(x.shape[1:]))
    begins = xp.arange(x.shape[0])[:, None, None] * numel(x.shape[1:])
    return x.reshape(-1)[index + begins]


# -- sums ------------------------------------------------------------------------------------------


def sum_windows(
    xp: Any,
    x: Any,
    places: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
) -> Any:
    """Sums over windows, of shape `places` [H, W]."""
    out = xp.empty((x.shape[0], *places), x.dtype)

    def work(some: slice, buffers: Buffers) -> None:
        seen = _reached(x[some], places, kernel, stride, padding, (1, 1), 0, buffers)
        rows = seen[:, cell(0, 1, stride[0], places[0])]
        for i in range(1, kernel[0]):
            rows = rows + seen[:, cell(i, 1, stride[0], places[0])]
        found = out[some]
        found[...] = rows[:, :, cell(0, 1, stride[1], places[1])]
        for j in range(1, kernel[1]):
            found += rows[:, :, cell(j, 1, stride[1], places[1])]

    each_plane(xp, x.shape[0], numel(x.shape[1:]), work)
    return out


def spread_windows(
    xp: Any, x: Any, size: Sequence[int], kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int]
) -> Any:
    """The transpose of `sum_windows`: each element added to its whole window, in planes of `size`."""
    n, *places = x.shape
    ends = [(m - 1) * s + k for m, k, s in zip(places, kernel, stride, strict=True)]
    whole = [max(e, s + p) for e, s, p in zip(ends, size, padding, strict=True)]
    out = xp.empty((n, *size), x.dtype)

    def work(some: slice, buffers: Buffers) -> None:
        many = some.stop - some.start
        columns = buffers.filled("columns", (many, places[0], whole[1]), x.dtype)
        for j in range(kernel[1]):
            part = columns[:, :, cell(j, 1, stride[1], places[1])]
            part += x[some]
        found = buffers.filled("found", (many, *whole), x.dtype)
        for i in range(kernel[0]):
            part = found[:, cell(i, 1, stride[0], places[0])]
            part += columns
        out[some] = found[(slice(None), *(slice(p, p + s) for p, s in zip(padding, size, strict=True)))]

    each_plane(xp, n, numel(whole), work)
    return out
