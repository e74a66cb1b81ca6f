"""The machine below the stand-in: its devices, their memory and time, and what goes wrong on them.

A kernel that faults is launched like any other. What comes after it is told, whoever asks: a context that has
failed answers every call with the same error until its process ends.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from pathlib import Path

_NAMES = {
    2: ("cudaErrorMemoryAllocation", "out of memory"),
    9: ("cudaErrorInvalidConfiguration", "invalid configuration argument"),
    101: ("cudaErrorInvalidDevice", "invalid device ordinal"),
    214: ("cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"),
    220: ("cudaErrorNvlinkUncorrectable", "uncorrectable NVLink error detected during the execution"),
    226: ("cudaErrorContained", "Invalid access of peer GPU memory over nvlink or a hardware error"),
    400: ("cudaErrorInvalidResourceHandle", "invalid resource handle"),
    600: ("cudaErrorNotReady", "device not ready"),
    700: ("cudaErrorIllegalAddress", "an illegal memory access was encountered"),
    702: ("cudaErrorLaunchTimeout", "the launch timed out and was terminated"),
    710: ("cudaErrorAssert", "device-side assert triggered"),
    714: ("cudaErrorHardwareStackError", "hardware stack error"),
    715: ("cudaErrorIllegalInstruction", "an illegal instruction was encountered"),
    716: ("cudaErrorMisalignedAddress", "misaligned address"),
    717: ("cudaErrorInvalidAddressSpace", "operation not supported on global/shared address space"),
    718: ("cudaErrorInvalidPc", "invalid program counter"),
    719: ("cudaErrorLaunchFailure", "unspecified launch failure"),
    721: ("cudaErrorTensorMemoryLeak", "tensor memory not completely freed"),
    999: ("cudaErrorUnknown", "unknown error"),
}
#: those after which a context does nothing any more
STICKY = frozenset({214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 999})


class CUDARuntimeError(RuntimeError):
    """``cupy.cuda.runtime.CUDARuntimeError``."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(": ".join(_NAMES[status]))


class CUBLASError(RuntimeError):
    """``cupy.cuda.cublas.CUBLASError``: what a library makes of a context that has failed."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__("CUBLAS_STATUS_EXECUTION_FAILED")


class StandinMachine:
    """What a process sees of it. A test sets what it needs, and calls `renew` afterwards."""

    def __init__(self) -> None:
        self._thread = threading.local()
        #: what pools have taken of a device
        self.taken: Counter[int] = Counter()
        self.renew()

    def renew(self) -> None:
        """Be as a new process finds it."""
        #: how many devices there are, and what each has
        self.devices = int(os.environ.get("STANDIN_DEVICES", "1"))
        self.memory = int(os.environ.get("STANDIN_MEMORY", str(1 << 36)))
        #: what each call is answered with, once a kernel has faulted; 0 while none has
        self.status = 0
        #: what they are answered with once the device has come to the kernel that was launched last
        self._struck = 0
        #: how many kernels later that is
        self._behind = 0
        self._planted: tuple[int, str, int] | None = None
        #: a file that plants a fault, "STATUS KERNEL BEHIND", in the first process that comes to that kernel
        self._file = Path(os.environ["STANDIN_FAULT"]) if "STANDIN_FAULT" in os.environ else None
        #: seconds that kernels take, by name, and that the device has worked so far
        self.seconds: dict[str, float] = {}
        self.worked = 0.0
        #: whether the device is done with nothing that it was told from now on
        self.busy = False

    @property
    def current(self) -> int:
        """This thread's device."""
        return getattr(self._thread, "current", 0)

    @current.setter
    def current(self, device: int) -> None:
        self.call()
        if not 0 <= device < self.devices:
            raise CUDARuntimeError(101)
        self._thread.current = device

    def plant(self, status: int, kernel: str, behind: int = 0) -> None:
        """The next launch of `kernel` ends so: at once, or with an error that sticks when the device comes to
        it. Unless it is waited for, it may be so many launches behind.
        """
        self._planted = status, kernel, behind

    def call(self) -> None:
        """A call of the runtime."""
        if self.query():
            raise CUDARuntimeError(self.status)

    def query(self) -> int:
        """The status of the context."""
        if not self._behind:
            self.status = self.status or self._struck
        return self.status

    def wait(self) -> None:
        """Wait for the device to come to where the host is."""
        self._behind = 0
        self.call()

    def launched(self, kernel: str) -> None:
        """A kernel, or a function of a library that starts some."""
        if self.query() and kernel == "matmul":
            raise CUBLASError(13)
        self.call()
        self._behind = max(0, self._behind - 1)
        self.worked += self.seconds.get(kernel, 0.0)
        planted = self._planted or self._from_file(kernel)
        if planted is None or planted[1] != kernel:
            return
        self._planted = None
        if planted[0] not in STICKY:
            raise CUDARuntimeError(planted[0])
        self._struck, self._behind = planted[0], planted[2]

    def _from_file(self, kernel: str) -> tuple[int, str, int] | None:
        if self._file is None or not self._file.exists():
            return None
        status, name, behind = self._file.read_text().split()
        if name != kernel:
            return None
        self._file.unlink()
        return int(status), name, int(behind)

    def malloc(self, size: int) -> int:
        """Take memory of this thread's device, which is told: for a result, before its kernel runs."""
        if self.status:
            raise CUDARuntimeError(self.status)
        device = self.current
        if self.taken[device] + size > self.memory:
            raise CUDARuntimeError(2)
        self.taken[device] += size
        return device


MACHINE = StandinMachine()
