"""Sums, means, products, extremes and truth over dimensions on the device: one launch, or two where few
results have many elements each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...data import contiguous_strides, reduced_shape, wrap_dims
from .launch import dense, empty, kind, launch
from .sources import INTEGERS, REALS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: threads of a block, and of one whose results have many elements
THREADS, MOST_THREADS = 256, 1024
#: results side by side for which elements are read: a line of memory
SIDE = 32
#: elements of a thread before there are more of them for a result; and before blocks share it
FEW, MANY = 4, 32
#: blocks that a device has room for, and how many are made where one result has several
ENOUGH, SHARED = 128, 512
MOST_BLOCKS = 1 << 16
_WORDS = ("results", "across", "far", "near", "n", "within", "leap", "step", "width", "height", "most")
_REDUCED = np.dtype([(name, np.int64) for name in _WORDS])


class Reduction(NamedTuple):
    """How results are found in an array, and how they are shared by threads and blocks."""

    #: what `reductions.cu` calls Reduced
    words: tuple[int, ...]
    threads: int
    blocks: int
    #: parts of each result
    shares: int

    @property
    def results(self) -> int:
        """How many there are."""
        return self.words[0]

    @property
    def structure(self) -> Any:
        """The words by value."""
        made = np.zeros(1, _REDUCED)
        made[0] = self.words
        return made


def _power(n: int) -> int:
    """The least power of two that is not below `n`."""
    return 1 << (n - 1).bit_length() if n > 1 else 1


def _levels(groups: Sequence[tuple[int, int]]) -> tuple[int, int, int, int]:
    """How many places groups of dimensions have, each given by its size and its step: in all and in the
    last, and the steps of the first and of the last.
    """
    if not groups:
        return 1, 1, 0, 0
    (n, step), (m, leap) = groups[-1], groups[0]
    return (n, n, 0, step) if len(groups) == 1 else (n * m, n, leap, step)


def _merged(dims: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Dimensions by size and step, those that go on from one another as one."""
    found: list[tuple[int, int]] = []
    for n, step in dims:
        if found and found[-1][1] == n * step:
            found[-1] = (found[-1][0] * n, step)
        else:
            found.append((n, step))
    return found


def reduction(shape: Sequence[int], steps: Sequence[int], over: Sequence[int]) -> Reduction | None:
    """The reduction of an array, of these steps in elements, over dimensions; None if they are more scattered
    than kernels know.
    """
    dims = [(d, n, step) for d, (n, step) in enumerate(zip(shape, steps, strict=True)) if n != 1]
    kept = _merged([(n, step) for d, n, step in dims if d not in over])
    gone = _merged(sorted(((n, step) for d, n, step in dims if d in over), key=lambda x: -x[1]))
    if len(kept) > 2 or len(gone) > 2 or (dims and 1 not in [step for _, step in (*kept[-1:], *gone[-1:])]):
        return None
    results, across, far, near = _levels(kept)
    n, within, leap, stride = _levels(gone)
    return _shared((results, across, far, near, n, within, leap, stride), near == 1)


def _shared(words: tuple[int, ...], beside: bool) -> Reduction:
    """A reduction's threads and blocks. Neighbours among threads read neighbours in memory: results, if they
    lie `beside` each other, or else elements of one.
    """
    results, across, n = words[0], words[1], words[4]
    width = min(SIDE, _power(across)) if beside else 1
    height = min(_power(-(-n // FEW)), MOST_THREADS // width)
    if -(-results // width) >= ENOUGH or n <= FEW * THREADS // width:
        height = min(height, THREADS // width)
    threads = max(SIDE, height * width, min(THREADS, _power(results) * height))
    blocks = -(-results // (threads // height))
    most = n
    if blocks < ENOUGH and n > MANY * height:
        most = max(MANY * height, -(-n // (SHARED // blocks)))
    return Reduction((*words, width, height, most), threads, min(blocks, MOST_BLOCKS), -(-n // most))


def _again(how: Reduction) -> Reduction:
    """The reduction of the parts."""
    r, n = how.results, how.shares
    return _shared((r, r, 0, 1, n, n, 0, r), True)._replace(shares=1)


def _start(xp: Any, name: str, how: Reduction, a: Any, out: Any, divisor: float = 1.0) -> None:
    scale = [divisor] if name == "sums" else []
    launch(
        xp, name, kind(a) + kind(out), (how.blocks, how.shares), how.threads, a, out, how.structure, *scale
    )  # fmt: skip


def _reduce(xp: Any, name: str, a: Any, out: Any, how: Reduction, divisor: float = 1.0) -> Any:
    """`out`, filled from a dense array."""
    if how.shares > 1:
        # of 16 bits, parts are what is computed in
        middle = np.float32 if out.dtype.kind in "fV" and out.itemsize == 2 else out.dtype
        parts = empty(xp, (how.shares, how.results), middle)
        _start(xp, name, how, a, parts)
        name, a, how = "sums" if name == "nonzeros" else name, parts, _again(how)
    _start(xp, name, how, a, out, divisor)
    return out


def _find(xp: Any, name: str, a: Any, values: Any, places: Any, how: Reduction) -> None:
    """The same for an extreme and its place; nobody may ask for `values`."""
    given, before = a, None
    if how.shares > 1:
        shape = (how.shares, how.results)
        given, before = empty(xp, shape, a.dtype), empty(xp, shape, np.int64)
        launch(
            xp, name, kind(a), (how.blocks, how.shares), how.threads, a, None, given, before, how.structure
        )  # fmt: skip
        how = _again(how)
    launch(xp, name, kind(a), (how.blocks, 1), how.threads, given, before, values, places, how.structure)


def _axes(a: Any, dim: Any) -> tuple[int, ...]:
    return wrap_dims(dim, a.ndim) if a.ndim else ()


def _found(
    xp: Any, a: Any, over: Sequence[int], integers: Sequence[str], ordered: bool = False
) -> tuple[Any, Reduction] | None:
    """A dense array and how it is reduced, if `ordered` by places in row-major order; None where that is left
    to CuPy. Transposed arrays are read as they lie in memory, if neighbours there can be read together.
    """
    if not a.size or (a.dtype.char not in REALS and kind(a) not in integers):
        return None
    if not a.flags.c_contiguous and not ordered:
        memory = a.transpose(sorted(range(a.ndim), key=lambda d: -a.strides[d]))
        how = reduction(a.shape, [s // a.itemsize for s in a.strides], over)
        if how is not None and memory.flags.c_contiguous:
            return memory, how
    how = reduction(a.shape, contiguous_strides(a.shape), over)
    return None if how is None else (dense(xp, a), how)


def _over(name: str, integers: Sequence[str], result: Any = None, mean: bool = False) -> Callable[[Any], Any]:
    """For an op over dimensions, or over all, whose results are of the dtype `result`."""

    def native(plain: Any) -> Any:
        def kernel(xp: Any, a: Any, **attrs: Any) -> Any:
            over = _axes(a, attrs.get("dim"))
            found = _found(xp, a, over, integers)
            if found is None:
                return plain(xp, a, **attrs)
            given, how = found
            out = empty(xp, reduced_shape(a.shape, over, attrs.get("keepdim", False)), result or a.dtype)
            return _reduce(xp, name, given, out, how, float(a.size // how.results) if mean else 1.0)

        return kernel

    return native


def _truth(name: str) -> Callable[[Any], Any]:
    flags, bytes_ = _over(name, INTEGERS, np.bool_), _over(name, INTEGERS, np.uint8)

    def native(plain: Any) -> Any:
        of_any, of_bytes = flags(plain), bytes_(plain)
        return lambda xp, a, **attrs: (of_bytes if a.dtype == np.uint8 else of_any)(xp, a, **attrs)

    return native


def _sum_to_size(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, size: Sequence[int]) -> Any:
        lead = a.ndim - len(size)
        over = [d for d, n in enumerate(a.shape) if d < lead or (size[d - lead] == 1 and n != 1)]
        found = _found(xp, a, over, ("q",)) if over else None
        if found is None:
            return plain(xp, a, size)
        given, how = found
        return _reduce(xp, "sums", given, empty(xp, tuple(size), a.dtype), how)

    return kernel


def _along(name: str) -> Callable[[Any], Any]:
    def native(plain: Any) -> Any:
        def kernel(xp: Any, a: Any, dim: int, keepdim: bool) -> Any:
            over = _axes(a, dim)
            found = _found(xp, a, over, INTEGERS, dim is None)
            if found is None:
                return plain(xp, a, dim, keepdim)
            given, how = found
            shape = reduced_shape(a.shape, over, keepdim)
            values, places = empty(xp, shape, a.dtype), empty(xp, shape, np.int64)
            _find(xp, name, given, values, places, how)
            return values, places

        return kernel

    return native


def _place(name: str) -> Callable[[Any], Any]:
    def native(plain: Any) -> Any:
        def kernel(xp: Any, a: Any, dim: int | None, keepdim: bool) -> Any:
            over = _axes(a, dim)
            found = _found(xp, a, over, INTEGERS, dim is None)
            if found is None:
                return plain(xp, a, dim, keepdim)
            given, how = found
            places = empty(xp, reduced_shape(a.shape, over, keepdim), np.int64)
            _find(xp, name, given, None, places, how)
            return places

        return kernel

    return native


def _both(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, dim: int | None, keepdim: bool) -> Any:
        over = _axes(a, dim)
        found = _found(xp, a, over, INTEGERS)
        if found is None:
            return plain(xp, a, dim=dim, keepdim=keepdim)
        given, how = found
        outs = [empty(xp, reduced_shape(a.shape, over, keepdim), a.dtype) for _ in range(2)]
        return tuple(
            _reduce(xp, name, given, out, how)
            for name, out in zip(("smallest", "largest"), outs, strict=True)
        )

    return kernel


NATIVE = {
    "all": _truth("everything"),
    "amax": _over("largest", INTEGERS),
    "amin": _over("smallest", INTEGERS),
    "aminmax": _both,
    "any": _truth("anything"),
    "argmax": _place("largest_at"),
    "argmin": _place("smallest_at"),
    "count_nonzero": _over("nonzeros", INTEGERS, np.int64),
    "max_all": _over("largest", INTEGERS),
    "max_dim": _along("largest_at"),
    "mean": _over("sums", (), mean=True),
    "min_all": _over("smallest", INTEGERS),
    "min_dim": _along("smallest_at"),
    "prod": _over("products", ("q",)),
    "sum": _over("sums", ("q",)),
    "sum_to_size": _sum_to_size,
}
