"""What a profile found: single events, and all events of one name as one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NoReturn

from .table import table, time_of


class DeviceType(Enum):
    """Where an event was (torch.profiler.DeviceType)."""

    CPU = 0
    CUDA = 1
    MKLDNN = 2
    OPENGL = 3
    OPENCL = 4
    IDEEP = 5
    HIP = 6
    FPGA = 7
    MAIA = 8
    XLA = 9
    Vulkan = 10
    Metal = 11
    XPU = 12
    MPS = 13
    Meta = 14
    HPU = 15
    VE = 16
    Lazy = 17
    IPU = 18
    MTIA = 19
    PrivateUse1 = 20


#: what events of PyTorch's have besides, and why these have not
_UNMEASURED = {
    **dict.fromkeys(
        [f"{whose}{of}_memory_usage" for whose in ("", "self_") for of in ("cpu", "device", "cuda")],
        "memory is not measured",
    ),
    **dict.fromkeys(["input_shapes", "concrete_inputs", "kwinputs"], "shapes are not recorded"),
    **dict.fromkeys(["stack", "python_id", "python_parent_id"], "stacks are not recorded"),
    **dict.fromkeys(["cpu_children", "cpu_parent", "kernels"], "kernels call no others"),
    "flops": "FLOPs are not counted",
}


class _Times:
    """The times of an event, in microseconds, from `cpu_time_total`, `device_time_total` and `count`."""

    __slots__ = ()

    count: int
    cpu_time_total: float
    device_time_total: float
    is_user_annotation: bool

    #: as PyTorch has them for events of one process
    node_id, is_async, is_remote, is_legacy, overload_name, scope = -1, False, False, False, "", 0

    @property
    def self_cpu_time_total(self) -> float:
        """As `cpu_time_total` of a kernel: kernels call no others. 0 of a range."""
        return 0.0 if self.is_user_annotation else self.cpu_time_total

    @property
    def self_device_time_total(self) -> float:
        """As `device_time_total`."""
        return self.device_time_total

    @property
    def cpu_time(self) -> float:
        """Microseconds of a call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        """Microseconds of a call on the GPU."""
        return self.device_time_total / self.count if self.count else 0.0

    @property
    def device_type(self) -> DeviceType:
        """Where it was."""
        return DeviceType.CUDA if self.device_time_total else DeviceType.CPU

    @property
    def use_device(self) -> str | None:
        """The kind of the GPU that it was on, if it was."""
        return "cuda" if self.device_time_total else None

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_str") and not name.startswith("_"):
            return time_of(getattr(self, name.removesuffix("_str")))
        if "cuda_time" in name:
            return getattr(self, name.replace("cuda", "device"))
        why = f": {_UNMEASURED[name]} by gradd" if name in _UNMEASURED else ""
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'{why}")


@dataclass(slots=True)
class FunctionEventAvg(_Times):
    """All calls of one kernel, or all ranges of one name (torch.autograd.profiler_util.FunctionEventAvg):
    `count`, and their microseconds in all, of the CPU or of the GPU.
    """

    key: str | None = None
    count: int = 0
    cpu_time_total: float = 0.0
    device_time_total: float = 0.0
    is_user_annotation: bool = False

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Add what is of the same name; AssertionError for others."""
        if self.key is None:
            self.key, self.is_user_annotation = other.key, other.is_user_annotation
        if other.key != self.key:
            raise AssertionError(f"{other.key!r} is not {self.key!r}")
        self.count += other.count
        self.cpu_time_total += other.cpu_time_total
        self.device_time_total += other.device_time_total
        return self

    __iadd__ = add


@dataclass(slots=True)
class Interval:
    """From `start` to `end`, microseconds since the profile began."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """How long it is."""
        return self.end - self.start


@dataclass(slots=True)
class FunctionEvent(_Times):
    """One call of a kernel, or one range (torch.autograd.profiler_util.FunctionEvent): its name, its thread
    (0 in the daemon), and when it was.
    """

    id: int
    name: str
    thread: int
    time_range: Interval
    on_gpu: bool = False
    is_user_annotation: bool = False
    count: int = field(default=1, init=False)

    @property
    def key(self) -> str:
        """Its name; that of all steps is one."""
        return "ProfilerStep*" if self.name.startswith("ProfilerStep#") else self.name

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]
        """Its microseconds, unless it was on the GPU."""
        return 0.0 if self.on_gpu else self.time_range.elapsed_us()

    @property
    def device_time_total(self) -> float:  # type: ignore[override]
        """Its microseconds on the GPU."""
        return self.time_range.elapsed_us() if self.on_gpu else 0.0


#: what a table may be sorted by, for `cuda` and `xpu` too
_SORTED = (
    "count", "cpu_time", "cpu_time_total", "self_cpu_time_total", "device_time", "device_time_total",
    "self_device_time_total", "key",
)  # fmt: skip


class EventList(list[Any]):
    """Events of a profile, or with those of one name as one."""

    def table(
        self, sort_by: str | None = None, row_limit: int = 100, max_src_column_width: int = 75,
        max_name_column_width: int = 55, max_shapes_column_width: int = 80, header: str | None = None,
        top_level_events_only: bool = False, time_unit: str | None = None,
    ) -> str:  # fmt: skip
        """The events as text, the greatest first; by what is not measured, such as memory, in their order.
        `time_unit`: "s", "ms" or "us" for all. AttributeError for a `sort_by` that events do not have.
        """
        shown = list(self)
        if sort_by is not None and shown:
            key = sort_by.replace("cuda", "device").replace("xpu", "device")
            if key in _SORTED:
                shown.sort(key=lambda e: getattr(e, key), reverse=True)
            elif key not in _UNMEASURED and not hasattr(shown[0], key):
                raise AttributeError(f"'FunctionEventAvg' object has no attribute '{key}'")
        return table(shown, row_limit, max_name_column_width, header, top_level_events_only, time_unit)

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:  # fmt: skip
        """Those of one name as one; shapes, stacks and overloads are not recorded, so none are told apart."""
        return averages(self)

    def total_average(self) -> FunctionEventAvg:
        """All kernels as one event."""
        kernels = [e for e in self if not e.is_user_annotation]
        return FunctionEventAvg(
            "Total",
            max(sum(e.count for e in kernels), 1),
            sum(e.cpu_time_total for e in kernels),
            sum(e.device_time_total for e in kernels),
        )

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of the CPU in all."""
        return float(sum(e.self_cpu_time_total for e in self))

    def supported_export_stacks_metrics(self) -> list[str]:
        """None: see `export_stacks`."""
        return []

    def export_stacks(self, path: str, metric: str) -> NoReturn:
        """Raise NotImplementedError: stacks are not recorded."""
        raise NotImplementedError("gradd's profiles have no stacks")

    def export_chrome_trace(self, path: str) -> NoReturn:
        """Raise NotImplementedError: the profile itself has the timeline."""
        raise NotImplementedError("a list of events is no timeline: use export_chrome_trace() of the profile")

    def __str__(self) -> str:
        return self.table()


def averages(events: Iterable[FunctionEvent | FunctionEventAvg]) -> EventList:
    """Those of one name as one, ranges first."""
    found: dict[tuple[bool, str | None], FunctionEventAvg] = {}
    for e in events:
        found.setdefault((not e.is_user_annotation, e.key), FunctionEventAvg()).add(e)
    return EventList(found[at] for at in sorted(found, key=lambda at: at[0]))
