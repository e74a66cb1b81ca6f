"""Apple's GPUs, which no session computes on: what asks them for something raises RuntimeError, as PyTorch
does where there is none.

As https://docs.pytorch.org/docs/stable/mps.html.
"""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = [
    "current_allocated_memory",
    "device_count",
    "driver_allocated_memory",
    "empty_cache",
    "get_rng_state",
    "is_available",
    "manual_seed",
    "recommended_max_memory",
    "seed",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "synchronize",
]


def _none(what: str) -> NoReturn:
    raise RuntimeError(f"Cannot execute {what}() without MPS backend.")


def is_available() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def manual_seed(seed: int) -> None:
    """Has no effect: there is no stream to seed."""


def synchronize() -> None:
    """RuntimeError."""
    _none("deviceSynchronize")


def empty_cache() -> None:
    """RuntimeError."""
    _none("emptyCache")


def seed() -> None:
    """RuntimeError."""
    _none("getDefaultGenerator")


def get_rng_state(device: Any = "mps") -> Any:
    """RuntimeError."""
    _none("getDefaultGenerator")


def set_rng_state(new_state: Any, device: Any = "mps") -> None:
    """RuntimeError."""
    _none("getDefaultGenerator")


def current_allocated_memory() -> int:
    """RuntimeError."""
    _none("getCurrentAllocatedMemory")


def driver_allocated_memory() -> int:
    """RuntimeError."""
    _none("getDriverAllocatedMemory")


def recommended_max_memory() -> int:
    """RuntimeError."""
    _none("getRecommendedMaxMemory")


def set_per_process_memory_fraction(fraction: float) -> None:
    """RuntimeError; TypeError and ValueError for what is no fraction."""
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 2:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~2")
    _none("setMemoryFraction")
