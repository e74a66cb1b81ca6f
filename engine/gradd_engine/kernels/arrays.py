"""What compiled kernels ask of their arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


def ready(a: Any) -> Any:
    """`a` row-major, aligned and writable: a copy where it is not. So layouts do not decide on bits."""
    return a if a.flags.carray else np.array(a, order="C")


def floating(a: Any) -> bool:
    """Whether there are compiled kernels for the dtype: float32 or float64."""
    return a.dtype.char in "fd"


def alike(a: Any, b: Any) -> bool:
    """`floating`, with one dtype and one shape."""
    return a.dtype.char in "fd" and a.dtype is b.dtype and a.shape == b.shape


#: elements below which a few calls of NumPy are preferred to the way to a compiled kernel; not tuned
FEW = 512


def unary(fn: Any, above: int = 0) -> Callable[..., Any]:
    """A kernel of a compiled function ``fn(a, out)`` over flat arrays; NumPy's for fewer than `above`
    elements.
    """

    def native(plain: Any) -> Any:
        def kernel(xp: Any, a: Any) -> Any:
            if a.size < above or not floating(a):
                return plain(xp, a)
            a = ready(a)
            out = np.empty_like(a)
            fn(a.reshape(-1), out.reshape(-1))
            return out

        return kernel

    return native


def binary(fn: Any, above: int = 0) -> Callable[..., Any]:
    """A kernel of a compiled function ``fn(a, b, out)`` over flat arrays of one shape; NumPy's for fewer than
    `above` elements.
    """

    def native(plain: Any) -> Any:
        def kernel(xp: Any, a: Any, b: Any) -> Any:
            if a.size < above or not alike(a, b):
                return plain(xp, a, b)
            a, b = ready(a), ready(b)
            out = np.empty_like(a)
            fn(a.reshape(-1), b.reshape(-1), out.reshape(-1))
            return out

        return kernel

    return native
