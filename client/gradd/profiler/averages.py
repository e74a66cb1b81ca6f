"""What a profile found, by name, and as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._session import MarkedRange


@dataclass(slots=True)
class KernelEvent:
    """All calls of one kernel, or all ranges of one name: `count`, and their microseconds in all, of the CPU
    or of the GPU.
    """

    key: str
    count: int
    cpu_time_total: float
    device_time_total: float
    is_user_annotation: bool = False

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
        return self.cpu_time_total / self.count

    @property
    def device_time(self) -> float:
        """Microseconds of a call on the GPU."""
        return self.device_time_total / self.count

    @property
    def cuda_time_total(self) -> float:
        """As `device_time_total`."""
        return self.device_time_total


#: what a table may be sorted by
_SORTED = (
    "count", "cpu_time", "cpu_time_total", "self_cpu_time_total", "device_time", "device_time_total",
    "self_device_time_total",
)  # fmt: skip
#: memory is not measured: events sorted by it stay in their order
_UNMEASURED = frozenset(f"{whose}{of}_memory_usage" for whose in ("", "self_") for of in ("cpu", "device"))


class EventList(list[KernelEvent]):
    """Events of a profile, with those of one name as one."""

    def table(
        self, sort_by: str | None = None, row_limit: int = 100, max_src_column_width: int = 75,
        max_name_column_width: int = 55, max_shapes_column_width: int = 80, header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:  # fmt: skip
        """The events as text, the greatest first; by memory, which is not measured, in their order.
        AttributeError for a `sort_by` that they do not have.
        """
        shown = list(self)
        if sort_by is not None:
            key = sort_by.replace("cuda", "device")
            if key in _SORTED:
                shown.sort(key=lambda e: float(getattr(e, key)), reverse=True)
            elif key not in _UNMEASURED:
                raise AttributeError(f"'KernelEvent' object has no attribute '{sort_by}'")
        shown = shown if row_limit < 0 else shown[:row_limit]
        cpu = sum(e.self_cpu_time_total for e in self)
        device = sum(e.self_device_time_total for e in self)
        titles = ["Name", "Self CPU %", "Self CPU", "CPU total", "CPU time avg"]
        titles += ["Self CUDA", "CUDA total"] if device else []
        rows = [[*titles, "# of Calls"]]
        for e in shown:
            row = [e.key[:max_name_column_width], f"{100 * e.self_cpu_time_total / cpu if cpu else 0:.2f}%"]
            row += map(_time, (e.self_cpu_time_total, e.cpu_time_total, e.cpu_time))
            row += map(_time, (e.self_device_time_total, e.device_time_total)) if device else []
            rows.append([*row, str(e.count)])
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
        rule = "  ".join("-" * w for w in widths)
        whole = [rule, lines[0], rule, *lines[1:], rule, f"Self CPU time total: {_time(cpu)}"]
        whole += [f"Self CUDA time total: {_time(device)}"] if device else []
        return "\n".join([*([header] if header else []), *whole, ""])

    def total_average(self) -> KernelEvent:
        """All as one event."""
        kernels = [e for e in self if not e.is_user_annotation]
        return KernelEvent(
            "Total",
            max(sum(e.count for e in kernels), 1),
            sum(e.cpu_time_total for e in kernels),
            sum(e.device_time_total for e in kernels),
        )

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of the CPU in all."""
        return sum(e.self_cpu_time_total for e in self)

    def __str__(self) -> str:
        return self.table()


def averages(kernels: Any, ranges: list[MarkedRange], on_gpu: bool) -> EventList:
    """The events of a session's profile, and of a script's ranges."""
    found: dict[str, KernelEvent] = {}
    for k in kernels:
        e = found.setdefault(k.name, KernelEvent(k.name, 0, 0.0, 0.0))
        e.count += k.calls
        if on_gpu:
            e.device_time_total += 1e6 * k.seconds
        else:
            e.cpu_time_total += 1e6 * k.seconds
    marked: dict[str, KernelEvent] = {}
    for r in ranges:
        e = marked.setdefault(r.name, KernelEvent(r.name, 0, 0.0, 0.0, True))
        e.count += 1
        e.cpu_time_total += 1e6 * (r.ended - r.began)
    return EventList([*marked.values(), *found.values()])


def _time(us: float) -> str:
    if us >= 1e6:
        return f"{us / 1e6:.3f}s"
    return f"{us / 1e3:.3f}ms" if us >= 1e3 else f"{us:.3f}us"
