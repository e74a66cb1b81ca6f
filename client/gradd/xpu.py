"""Intel's GPUs, which no session computes on: what asks them for something raises AssertionError, as PyTorch
does where there is none.

As https://docs.pytorch.org/docs/stable/xpu.html.
"""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = [
    "current_device",
    "device_count",
    "empty_cache",
    "get_device_name",
    "get_device_properties",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "set_device",
    "synchronize",
]


def _none() -> NoReturn:
    raise AssertionError("Torch not compiled with XPU enabled")


def is_available() -> bool:
    """False."""
    return False


def is_initialized() -> bool:
    """False."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def current_device() -> int:
    """AssertionError."""
    _none()


def set_device(device: Any) -> None:
    """AssertionError."""
    _none()


def get_device_name(device: Any = None) -> str:
    """AssertionError."""
    _none()


def get_device_properties(device: Any = None) -> Any:
    """AssertionError."""
    _none()


def synchronize(device: Any = None) -> None:
    """AssertionError."""
    _none()


def empty_cache() -> None:
    """Has no effect."""


def manual_seed(seed: int) -> None:
    """Has no effect: there is no stream to seed."""


def manual_seed_all(seed: int) -> None:
    """Has no effect: there is no stream to seed."""


def memory_allocated(device: Any = None) -> int:
    """0."""
    return 0


memory_reserved = max_memory_allocated = max_memory_reserved = memory_allocated
