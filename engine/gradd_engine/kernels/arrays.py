"""What compiled kernels require of their arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .threads import LOAD, share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def ready(a: Any) -> Any:
    """`a`, or a copy if it is not row-major, aligned and writable, so that layouts do not affect bits."""
    return a if a.flags.carray else np.array(a, order="C")


def floating(a: Any) -> bool:
    """Whether the dtype has compiled kernels: float32 or float64."""
    return a.dtype.char in "fd"


def alike(a: Any, b: Any) -> bool:
    """Whether both are `floating`, of one dtype and shape."""
    return a.dtype.char in "fd" and a.dtype is b.dtype and a.shape == b.shape


#: elements of large arrays that a thread takes at a time
PIECE = 1 << 16


def by_pieces(fn: Callable[..., Any], *flat: Any) -> None:
    """Call an element-wise ``fn`` on flat arrays of one size, in pieces shared by threads if they are large.

    The pieces depend on the size alone.
    """
    size = flat[0].size
    if size < 2 * LOAD:
        fn(*flat)
        return

    def work(numbers: Iterator[int]) -> None:
        for number in numbers:
            some = slice(number * PIECE, (number + 1) * PIECE)
            fn(*[a[some] for a in flat])

    share(np, -(-size // PIECE), size, work)


def by_rows(fn: Callable[..., Any], *arrays: Any) -> None:
    """The same for an ``fn`` on the rows of matrices, each row by itself."""
    rows, n = arrays[0].shape
    step = max(1, PIECE // n)
    if arrays[0].size < 2 * LOAD or rows <= step:
        fn(*arrays)
        return

    def work(numbers: Iterator[int]) -> None:
        for number in numbers:
            some = slice(number * step, (number + 1) * step)
            fn(*[a[some] for a in arrays])

    share(np, -(-rows // step), arrays[0].size, work)


#: below this many elements NumPy is preferred to a compiled kernel; not tuned
FEW = 512


def unary(fn: Any, above: int = 0) -> Callable[..., Any]:
    """A kernel from a compiled ``fn(a, out)`` over flat arrays; the plain one below `above` elements."""

    def native(plain: Any) -> Any:
        def kernel(xp: Any, a: Any) -> Any:
            if a.size < above or not floating(a):
                return plain(xp, a)
            a = ready(a)
            out = np.empty_like(a)
            by_pieces(fn, a.reshape(-1), out.reshape(-1))
            return out

        return kernel

    return native


def binary(fn: Any, above: int = 0) -> Callable[..., Any]:
    """A kernel from a compiled ``fn(a, b, out)`` over flat arrays of one shape; the plain one below `above`
    elements.
    """

    def native(plain: Any) -> Any:
        def kernel(xp: Any, a: Any, b: Any) -> Any:
            if a.size < above or not alike(a, b):
                return plain(xp, a, b)
            a, b = ready(a), ready(b)
            out = np.empty_like(a)
            by_pieces(fn, a.reshape(-1), b.reshape(-1), out.reshape(-1))
            return out

        return kernel

    return native
