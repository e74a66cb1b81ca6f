"""Profiles by their older names (torch.autograd.profiler)."""

from __future__ import annotations

from typing import Any, NoReturn

from ..profiler import EventList, record_function
from ..profiler import profile as _Profile

__all__ = ["emit_itt", "emit_nvtx", "profile", "record_function"]


class _AutogradProfile:
    """Measures the current session in a `with` block (torch.autograd.profiler.profile); nothing unless
    `enabled`.
    """

    def __init__(self, enabled: bool = True, **options: Any) -> None:
        self._profile = _Profile() if enabled else None

    def __enter__(self) -> _AutogradProfile:
        if self._profile is not None:
            self._profile.start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._profile is not None:
            self._profile.stop()

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> EventList:
        """What was measured, by name."""
        if self._profile is None:
            raise RuntimeError("Profiler didn't finish running")
        return self._profile.key_averages()

    @property
    def function_events(self) -> EventList:
        """As `key_averages`."""
        return self.key_averages()

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: Any) -> str:
        """What was measured, as text."""
        return self.key_averages().table(sort_by, row_limit, **options)

    def total_average(self) -> Any:
        """All as one event."""
        return self.key_averages().total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of the CPU in all."""
        return self.key_averages().self_cpu_time_total

    def export_chrome_trace(self, path: str) -> None:
        """As `gradd.profiler.profile.export_chrome_trace`."""
        self.key_averages()
        if self._profile is not None:
            self._profile.export_chrome_trace(path)

    def __str__(self) -> str:
        return self.table()


profile = _AutogradProfile


def emit_nvtx(enabled: bool = True, record_shapes: bool = False) -> NoReturn:
    """Raise NotImplementedError: NVIDIA's profilers see the daemon, not the script."""
    raise NotImplementedError("emit_nvtx() is not supported by gradd: profile the daemon's process")


def emit_itt(enabled: bool = True, record_shapes: bool = False) -> NoReturn:
    """Raise NotImplementedError: Intel's profilers see the daemon, not the script."""
    raise NotImplementedError("emit_itt() is not supported by gradd: profile the daemon's process")
