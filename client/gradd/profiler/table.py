"""Events of a profile as a table, with PyTorch's columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .events import FunctionEvent, FunctionEventAvg

#: microseconds of a unit
_UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0}


def time_of(us: float, unit: str | None = None) -> str:
    """A time in the unit, or in the one that suits it."""
    unit = unit if unit in _UNITS else "s" if us >= 1e6 else "ms" if us >= 1e3 else "us"
    return f"{us / _UNITS[unit]:.3f}{unit}"


def table(
    events: Sequence[FunctionEvent | FunctionEventAvg], row_limit: int, name_width: int | None,
    header: str | None, top_level_only: bool, unit: str | None,
) -> str:  # fmt: skip
    """The first `row_limit` events, all if it is negative, and the sums of all."""
    if not events:
        return ""
    cpu = sum(e.self_cpu_time_total for e in events)
    device = sum(e.self_device_time_total for e in events)
    titles = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
    titles += ["Self CUDA", "Self CUDA %", "CUDA total", "CUDA time avg"] if device else []
    rows = [[*titles, "# of Calls"]]
    for e in events if row_limit < 0 else events[:row_limit]:
        row = [_short(e.key or "", name_width), _share(e.self_cpu_time_total, cpu)]
        row += [time_of(e.self_cpu_time_total, unit), _share(e.cpu_time_total, cpu)]
        row += [time_of(e.cpu_time_total, unit), time_of(e.cpu_time, unit)]
        if device:
            row += [time_of(e.self_device_time_total, unit), _share(e.self_device_time_total, device)]
            row += [time_of(e.device_time_total, unit), time_of(e.device_time, unit)]
        rows.append([*row, str(e.count)])
    widths = [max(12, *(len(row[i]) for row in rows)) for i in range(len(rows[0]))]
    lines = ["  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
    rule, over = "  ".join("-" * w for w in widths), "=" * len(lines[0])
    whole = [over, header] if header is not None else []
    whole += [over, "This report only display top-level ops statistics"] if top_level_only else []
    whole += [rule, lines[0], rule, *lines[1:], rule, f"Self CPU time total: {time_of(cpu, unit)}"]
    whole += [f"Self CUDA time total: {time_of(device, unit)}"] if device else []
    return "\n".join([*whole, ""])


def _short(name: str, width: int | None) -> str:
    return name if width is None or len(name) < width - 3 else name[: width - 3] + "..."


def _share(us: float, total: float) -> str:
    return f"{100 * us / total:.2f}%" if total else "NaN"
