"""The memory of a session on a GPU (torch.cuda.memory): what it holds is told by its daemon, a round trip
each time. Without a GPU all figures are 0.

A session's memory is one number: there is no cache of its own, so what is reserved is what is allocated.
Source: https://docs.pytorch.org/docs/stable/cuda.html#memory-management
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from .._exceptions import OutOfMemoryError
from .._session import current
from ._devices import device_memory_used, is_available, list_gpu_processes, memory_usage, untold, want

__all__ = [
    "OutOfMemoryError",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "device_memory_used",
    "empty_cache",
    "get_per_process_memory_fraction",
    "ipc_collect",
    "list_gpu_processes",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "memory_usage",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
]
#: the most that was told since the figures were reset
_peak = {"bytes": 0}


def memory_allocated(device: Any = None) -> int:
    """Bytes that the session holds on its GPU; 0 without one. A round trip."""
    if not is_available():
        return 0
    held = int(current().info().bytes)
    _peak["bytes"] = max(_peak["bytes"], held)
    return held


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes of which `memory_allocated` knew, now or since `reset_peak_memory_stats`."""
    return max(memory_allocated(device), _peak["bytes"]) if is_available() else 0


memory_reserved = memory_cached = memory_allocated
max_memory_reserved = max_memory_cached = max_memory_allocated


def reset_peak_memory_stats(device: Any = None) -> None:
    """Forget what `max_memory_allocated` knew."""
    _peak["bytes"] = 0


reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats
reset_accumulated_memory_stats = reset_peak_memory_stats


def memory_stats(device: Any = None) -> OrderedDict[str, int]:
    """Figures by their names; without a GPU there are none."""
    if not is_available():
        return OrderedDict()
    now, most = memory_allocated(device), max_memory_allocated(device)
    return OrderedDict(
        (f"{kind}.all.{when}", n)
        for kind in ("allocated_bytes", "reserved_bytes")
        for when, n in (("current", now), ("peak", most))
    )


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """`memory_stats` in dicts of dicts."""
    found: dict[str, Any] = {}
    for name, n in memory_stats(device).items():
        kind, pool, when = name.split(".")
        found.setdefault(kind, {}).setdefault(pool, {})[when] = n
    return found


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """A text for people about what the session holds."""
    now, most = memory_allocated(device), max_memory_allocated(device)
    rule = "|" + "=" * 43 + "|\n"
    rows = "".join(
        f"| {name:<20} | {n / (1 << 20):>12.1f} MiB |\n"
        for name, n in (("Allocated memory", now), ("the most known of", most))
    )
    return f"{rule}| {'memory of the session':<41} |\n{rule}{rows}{rule}"


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Not yet told for a session on a GPU (NotImplementedError). AssertionError without."""
    want(device)
    untold("free memory")


def empty_cache() -> None:
    """Has no effect: the daemon's memory is shared by sessions."""


def ipc_collect() -> None:
    """Has no effect: no memory is shared between processes. AssertionError without a GPU."""
    want()


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """NotImplementedError: the daemon decides what a session may hold. AssertionError without a GPU,
    TypeError and ValueError for what is no fraction.
    """
    want(device)
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    raise NotImplementedError("what a session may hold is set where the daemon is started (gradd serve)")


def get_per_process_memory_fraction(device: Any = None) -> float:
    """Not yet told for a session on a GPU (NotImplementedError). AssertionError without."""
    want(device)
    untold("the share of the memory")


def caching_allocator_alloc(size: int, device: Any = None, stream: Any = None) -> int:
    """NotImplementedError: no address of a daemon's means anything here. AssertionError without a GPU."""
    want(device)
    raise NotImplementedError("memory without a tensor is not supported by gradd")


def caching_allocator_delete(mem_ptr: int) -> None:
    """NotImplementedError: see `caching_allocator_alloc`."""
    raise NotImplementedError("memory without a tensor is not supported by gradd")
