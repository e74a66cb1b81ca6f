"""The GPU backend: CuPy arrays. The only module that may import cupy, when a backend is made."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .array import ArrayBackend
from .graphs import DeviceGraph

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..data import Meta
    from ..tensor import Tensor


class CupyBackend(ArrayBackend):
    """Kernels and memory by CuPy on one CUDA device. Raises RuntimeError where CuPy or a GPU is missing."""

    def __init__(self, index: int = 0) -> None:
        try:
            import cupy
        except ImportError as e:
            raise RuntimeError(
                "device cuda needs CuPy: pip install 'gradd[cuda12]' or 'gradd[cuda13]'"
            ) from e
        if not cupy.cuda.is_available():
            raise RuntimeError("device cuda: CuPy is installed but finds no usable GPU")
        super().__init__(cupy, f"cuda:{index}")
        self._index = index
        self.captures = os.environ.get("GRADD_CUDA_GRAPHS", "") != "0"

    def to_numpy(self, t: Tensor) -> Any:
        """The values, copied to the host; waits for the device."""
        return self.xp.asnumpy(self.xp.conjugate(t.array) if t._conj else t.array, order="C")

    @property
    def memory_bytes(self) -> int:
        """What the device has."""
        with self.xp.cuda.Device(self._index):
            return int(self.xp.cuda.runtime.memGetInfo()[1])

    def synchronize(self) -> None:
        """Wait until the device has done what it was told."""
        self.xp.cuda.get_current_stream().synchronize()

    def capture(self, work: Callable[[], None]) -> DeviceGraph:
        """See DeviceGraph."""
        return DeviceGraph(self.xp, work)

    def strided(self, flat: Any, meta: Meta) -> Any:
        """An array over `flat`'s memory with the geometry of `meta`."""
        item = meta.dtype.itemsize
        pointer = flat.data + meta.offset * item
        return self.xp.ndarray(
            meta.shape, meta.dtype.np, pointer, strides=tuple(s * item for s in meta.strides)
        )
