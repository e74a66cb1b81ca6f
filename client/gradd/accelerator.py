"""Device queries of any kind. A session has one device, the daemon's: where that is a CPU, there is no
accelerator, and all but the first ones raise PyTorch's RuntimeError for that.

As https://docs.pytorch.org/docs/stable/accelerator.html.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from gradd_engine.data import Device

from . import cuda
from ._session import current
from .cuda import device_count, is_available

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "empty_cache",
    "empty_host_cache",
    "get_device_capability",
    "get_memory_info",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]


def current_accelerator(check_available: bool = False) -> Device | None:
    """The kind of the current session's GPU, None on a CPU."""
    return Device(current().backend.device.type) if is_available() else None


def _want(device: Any = None) -> None:
    if not is_available():
        raise RuntimeError("Cannot access accelerator device when none is available.")
    cuda.set_device(0 if device is None else device)


def current_device_index() -> int:
    """0."""
    _want()
    return 0


def set_device_index(device: Any) -> None:
    """Check that `device` is the session's."""
    _want(device)


current_device_idx, set_device_idx = current_device_index, set_device_index


class device_index:
    """A context in which the device of that index is the current one; None for no change."""

    def __init__(self, device: int | None) -> None:
        self.idx = device

    def __enter__(self) -> None:
        if self.idx is not None:
            _want(self.idx)

    def __exit__(self, *exc: object) -> None:
        """The block is over."""


def current_stream(device: Any = None) -> Any:
    """The stream of all that is recorded."""
    _want(device)
    return cuda.current_stream()


def set_stream(stream: Any) -> None:
    """Has no effect."""
    _want()


def synchronize(device: Any = None) -> None:
    """Send what is recorded, and wait until the daemon has answered all of it."""
    _want(device)
    cuda.synchronize()


def empty_cache() -> None:
    """Has no effect: the daemon's memory is shared by sessions."""
    _want()


def empty_host_cache() -> None:
    """Has no effect: the SDK holds no memory for copies."""
    _want()


def memory_allocated(device_index: Any = None, /) -> int:
    """Bytes that the session holds on its GPU. A round trip."""
    _want(device_index)
    return cuda.memory_allocated()


def max_memory_allocated(device_index: Any = None, /) -> int:
    """The most bytes of which `memory_allocated` knew."""
    _want(device_index)
    return cuda.max_memory_allocated()


memory_reserved, max_memory_reserved = memory_allocated, max_memory_allocated


def memory_stats(device_index: Any = None, /) -> OrderedDict[str, int]:
    """Figures by their names."""
    _want(device_index)
    return cuda.memory_stats()


def reset_peak_memory_stats(device_index: Any = None, /) -> None:
    """Forget what `max_memory_allocated` knew."""
    _want(device_index)
    cuda.reset_peak_memory_stats()


reset_accumulated_memory_stats = reset_peak_memory_stats


def get_memory_info(device_index: Any = None, /) -> tuple[int, int]:
    """Not yet told by a daemon (NotImplementedError)."""
    _want(device_index)
    return cuda.mem_get_info()


def get_device_capability(device: Any = None, /) -> dict[str, Any]:
    """Not yet told by a daemon (NotImplementedError)."""
    _want(device)
    return {"capability": cuda.get_device_capability()}
