"""``cupy.cuda``: devices, of which each thread has one that is current, their streams and events."""

from __future__ import annotations

import types
from typing import Any

from .counting import wait
from .graphs import Stream, refuse
from .machine import MACHINE, CUBLASError, CUDARuntimeError
from .memory import MemoryPointer, MemoryPool, OutOfMemoryError, alloc, set_allocator, using_allocator

_NOT_READY = 600


class Device:
    """``cupy.cuda.Device``."""

    compute_capability = "90"

    def __init__(self, device: int | None = None) -> None:
        self.id = MACHINE.current if device is None else int(device)
        self._before: list[int] = []

    def use(self) -> None:
        """Make it this thread's."""
        MACHINE.current = self.id

    def synchronize(self) -> None:
        """Wait until it has done everything."""
        wait("synchronize")

    def __enter__(self) -> Device:
        self._before.append(MACHINE.current)
        self.use()
        return self

    def __exit__(self, *_: object) -> None:
        MACHINE.current = self._before.pop()


class Event:
    """``cupy.cuda.Event``."""

    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        MACHINE.call()
        self._timed = not disable_timing
        self._at: float | None = None
        self._waits = False

    def record(self, stream: Stream | None = None) -> None:
        """Note when the device comes here."""
        MACHINE.call()
        self._at, self._waits = MACHINE.worked, MACHINE.busy

    @property
    def done(self) -> bool:
        """Whether the device has come here."""
        return not (MACHINE.query() or (self._waits and MACHINE.busy))

    def synchronize(self) -> None:
        """Wait until it has."""
        wait("synchronize")


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds from one event to another; both are to be done."""
    MACHINE.call()
    begin, end = start_event._at, end_event._at
    if begin is None or end is None or not (start_event._timed and end_event._timed):
        raise CUDARuntimeError(400)
    if not (start_event.done and end_event.done):
        raise CUDARuntimeError(_NOT_READY)
    return 1e3 * (end - begin)


def stream_query(stream: int) -> int:
    """The status of a stream, which is returned and not raised."""
    refuse("query of a stream")
    return MACHINE.query() or (_NOT_READY if MACHINE.busy else 0)


def device_count() -> int:
    """How many devices there are."""
    return MACHINE.devices


def memory_info() -> tuple[int, int]:
    """Bytes of this thread's device that are free, and those that it has."""
    MACHINE.call()
    return MACHINE.memory - MACHINE.taken[MACHINE.current], MACHINE.memory


CUDA: Any = types.SimpleNamespace(
    Device=Device,
    Event=Event,
    MemoryPointer=MemoryPointer,
    MemoryPool=MemoryPool,
    alloc=alloc,
    cublas=types.SimpleNamespace(CUBLASError=CUBLASError),
    Stream=Stream,
    get_current_stream=Stream.current,
    get_elapsed_time=get_elapsed_time,
    is_available=lambda: MACHINE.devices > 0,
    memory=types.SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
    runtime=types.SimpleNamespace(
        CUDARuntimeError=CUDARuntimeError,
        getDevice=lambda: MACHINE.current,
        getDeviceCount=device_count,
        memGetInfo=memory_info,
        runtimeGetVersion=lambda: 13000,
        streamQuery=stream_query,
    ),
    set_allocator=set_allocator,
    using_allocator=using_allocator,
)
