"""Profiles by their older names (torch.autograd.profiler)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn
from uuid import uuid4

from ..profiler import EventList, FunctionEvent, FunctionEventAvg, kineto_available, record_function
from ..profiler import profile as _Profile

__all__ = [
    "EventList", "FunctionEvent", "emit_itt", "emit_nvtx", "kineto_available", "load_nvprof",
    "parse_nvprof_trace", "profile", "record_function",
]  # fmt: skip


class _AutogradProfile:
    """Measures the current session in a `with` block (torch.autograd.profiler.profile); nothing unless
    `enabled`. The other options have no effect: see `gradd.profiler.profile`.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        activity_filters: Any = None,
    ) -> None:
        self.enabled = enabled
        self._profile = _Profile(acc_events=acc_events, custom_trace_id_callback=custom_trace_id_callback)
        self._ended = False

    def __enter__(self) -> _AutogradProfile:
        if self.enabled:
            self._profile.start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self.enabled:
            self._profile.stop()
            self._ended = True

    def _finished(self) -> _Profile:
        if not self._ended:
            raise RuntimeError("Profiler didn't finish running")
        return self._profile

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:  # fmt: skip
        """What was measured, by name."""
        return self._finished().key_averages()

    @property
    def function_events(self) -> EventList:
        """The ranges and the latest calls of kernels."""
        return self._finished().events()

    def table(
        self, sort_by: str | None = None, row_limit: int = 100, max_src_column_width: int = 75,
        max_name_column_width: int = 55, max_shapes_column_width: int = 80, header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:  # fmt: skip
        """What was measured, as text."""
        return self.key_averages().table(
            sort_by, row_limit, max_name_column_width=max_name_column_width, header=header,
            top_level_events_only=top_level_events_only,
        )  # fmt: skip

    def total_average(self) -> FunctionEventAvg:
        """All as one event."""
        return self.key_averages().total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of the CPU in all."""
        return self.key_averages().self_cpu_time_total

    def export_chrome_trace(self, path: str, metadata: Any = None, use_python_export: bool = False) -> None:
        """As `gradd.profiler.profile.export_chrome_trace`; `metadata` are more members of the trace."""
        for key, value in (metadata or {}).items():
            self._profile.add_metadata(key, value)
        self._finished().export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> NoReturn:
        """Raise NotImplementedError: stacks are not recorded."""
        self._profile.export_stacks(path, metric)

    def toggle_collection_dynamic(self, enabled: bool, activities: Iterable[Any]) -> NoReturn:
        """Raise NotImplementedError: a profile measures all or nothing."""
        self._profile.toggle_collection_dynamic(enabled, activities)

    def config(self, create_trace_id: bool = False) -> NoReturn:
        """Raise NotImplementedError: that is of PyTorch's own profiler."""
        raise NotImplementedError("gradd's profiles have no config() of PyTorch's profiler")

    def default_trace_id(self) -> str:
        """An id for a trace."""
        return uuid4().hex.upper()

    def create_trace_id(self) -> str:
        """An id for a trace, by the callback if there is one."""
        return (self._profile.custom_trace_id_callback or self.default_trace_id)()

    def __str__(self) -> str:
        return self.table()


profile = _AutogradProfile


def emit_nvtx(enabled: bool = True, record_shapes: bool = False) -> NoReturn:
    """Raise NotImplementedError: NVIDIA's profilers see the daemon, not the script."""
    raise NotImplementedError("emit_nvtx() is not supported by gradd: profile the daemon's process")


def emit_itt(enabled: bool = True, record_shapes: bool = False) -> NoReturn:
    """Raise NotImplementedError: Intel's profilers see the daemon, not the script."""
    raise NotImplementedError("emit_itt() is not supported by gradd: profile the daemon's process")


def load_nvprof(path: str) -> NoReturn:
    """Raise NotImplementedError: see `emit_nvtx`."""
    raise NotImplementedError("load_nvprof() is not supported by gradd: it reads traces of emit_nvtx()")


def parse_nvprof_trace(path: str) -> NoReturn:
    """Raise NotImplementedError: see `emit_nvtx`."""
    raise NotImplementedError("parse_nvprof_trace() is not supported by gradd: see load_nvprof()")
