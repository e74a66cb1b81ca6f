"""The CPU backend: NumPy arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .array import ArrayBackend

if TYPE_CHECKING:
    from ..data import Meta


class NumpyBackend(ArrayBackend):
    """Kernels and memory by NumPy."""

    def __init__(self) -> None:
        super().__init__(np, "cpu")

    def strided(self, flat: Any, meta: Meta) -> Any:
        """An array over `flat`; reinterprets its bytes where the dtype differs (real and imaginary views)."""
        if 0 in meta.shape:
            # No element, no address: NumPy would look for the place of the first one all the same.
            return np.empty(meta.shape, meta.dtype.np)
        item = meta.dtype.itemsize
        return np.ndarray(
            meta.shape, meta.dtype.np, flat, meta.offset * item, tuple(s * item for s in meta.strides)
        )


NUMPY = NumpyBackend()
