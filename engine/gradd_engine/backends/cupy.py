"""The GPU backend: CuPy arrays. The only module that may import cupy, when a backend is made."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..data import DeviceFailed, DeviceFull, collect
from .array import ArrayBackend
from .graphs import DeviceGraph

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..data import Meta
    from ..tensor import Tensor


#: of CUDA's errors, those after which every call of the process is answered with the same one. By their
#: numbers: errors of memory (ECC), of links between devices, and those contained by the device; illegal
#: addresses, timeouts, destroyed contexts, failed asserts, errors of the hardware's stack, of instructions,
#: alignment, address spaces and program counters, failed launches, tensor memory that was not freed, external
#: devices, and what CUDA has no word for
STICKY = frozenset({214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 911, 999})


class Stopwatch:
    """The time from one event on the stream to another: what the device was told before is not in it."""

    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda
        self._begin, self._end = cuda.Event(), cuda.Event()

    def start(self) -> None:
        """What the device is told from now on counts."""
        self._begin.record()

    def stop(self) -> None:
        """What it is told from now on does not."""
        self._end.record()

    def seconds(self) -> float | None:
        """How long that took; None while it is not done. Waits for nothing."""
        if not self._end.done:
            return None
        return float(self._cuda.get_elapsed_time(self._begin, self._end)) / 1e3

    def wait(self) -> None:
        """Wait until it is done."""
        self._end.synchronize()


class CupyBackend(ArrayBackend):
    """Kernels and memory by CuPy on one CUDA device, by its number among those that CUDA shows this process.
    Raises RuntimeError where CuPy or the GPU is missing.
    """

    #: CuPy's pool cuts its memory so
    block = 512

    def __init__(self, index: int = 0) -> None:
        try:
            import cupy
        except ImportError as e:
            raise RuntimeError(
                "device cuda needs CuPy: pip install 'gradd[cuda12]' or 'gradd[cuda13]'"
            ) from e
        if not cupy.cuda.is_available():
            raise RuntimeError("device cuda: CuPy is installed but finds no usable GPU")
        count = cupy.cuda.runtime.getDeviceCount()
        if index >= count:
            there = "cuda:0" if count == 1 else f"cuda:0 to cuda:{count - 1}"
            raise RuntimeError(f"device cuda:{index}: CUDA shows this process {there} (CUDA_VISIBLE_DEVICES)")
        super().__init__(cupy, f"cuda:{index}")
        self.captures = os.environ.get("GRADD_CUDA_GRAPHS", "") != "0"
        self.visible = count
        self._device = cupy.cuda.Device(index)
        self.select()
        self._drop: Callable[[], None] = lambda: None
        self._pool = cupy.get_default_memory_pool()
        cupy.cuda.set_allocator(self._allocate)

    def _allocate(self, size: int) -> Any:
        """Where CuPy gets the memory of arrays: from its pool, which gives back unused blocks before it gives
        up, and then once more. Raises DeviceFull.
        """
        try:
            return self._pool.malloc(size)
        except MemoryError:
            self._relieve()
        try:
            return self._pool.malloc(size)
        except MemoryError as error:
            free, whole = self.xp.cuda.runtime.memGetInfo()
            raise DeviceFull(size, whole - free, whole) from error

    def _relieve(self) -> None:
        """Give back all that nobody needs."""
        self._drop()
        self.xp.fft.config.get_plan_cache().clear()  # their work areas
        collect()
        self._pool.free_all_blocks()

    def spare(self, drop: Callable[[], None]) -> None:
        """See ArrayBackend.spare."""
        self._drop = drop

    def to_numpy(self, t: Tensor) -> Any:
        """The values, copied to the host; waits for the device."""
        return self.xp.asnumpy(self.xp.conjugate(t.array) if t._conj else t.array, order="C")

    @property
    def memory_bytes(self) -> int:
        """What the device has."""
        with self._device:
            return int(self.xp.cuda.runtime.memGetInfo()[1])

    def select(self) -> None:
        """See ArrayBackend.select. For CUDA each thread has a current device, at first that of number 0."""
        try:
            self._device.use()
        except self.xp.cuda.runtime.CUDARuntimeError:
            self.verify()
            raise

    def synchronize(self) -> None:
        """Wait until the device has done what it was told."""
        self.xp.cuda.get_current_stream().synchronize()

    def capture(self, work: Callable[[], None], beside: DeviceGraph | None = None) -> DeviceGraph:
        """See DeviceGraph."""
        return DeviceGraph(self.xp, work, self.kernels.ready, beside)

    def stopwatch(self) -> Stopwatch:
        """See ArrayBackend.stopwatch."""
        return Stopwatch(self.xp.cuda)

    def verify(self) -> None:
        """Raise DeviceFailed after an error that sticks. Whichever call it came from, and whatever CuPy or a
        library has made of it, the stream answers with it from then on.
        """
        runtime = self.xp.cuda.runtime
        status = runtime.streamQuery(self.xp.cuda.get_current_stream().ptr)
        if status in STICKY:
            raise DeviceFailed(f"the GPU has failed: {runtime.CUDARuntimeError(status)}")

    def strided(self, flat: Any, meta: Meta) -> Any:
        """An array over `flat`'s memory with the geometry of `meta`."""
        item = meta.dtype.itemsize
        pointer = flat.data + meta.offset * item
        return self.xp.ndarray(
            meta.shape, meta.dtype.np, pointer, strides=tuple(s * item for s in meta.strides)
        )
