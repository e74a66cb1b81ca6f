"""What a Timer measured."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """What was measured."""

    stmt: str
    setup: str = ""
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label and sub-label, else the statement."""
        if self.label is None:
            return self.stmt
        return self.label + (f": {self.sub_label}" if self.sub_label else "")


@dataclass(slots=True)
class Measurement:
    """Seconds of one or more blocks of `number_per_run` runs (torch.utils.benchmark.utils.common)."""

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = field(default=None)

    @property
    def times(self) -> list[float]:
        """Seconds of a run, by block."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self) -> float:
        """The median of `times`."""
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        """The mean of `times`."""
        return statistics.fmean(self.times)

    @property
    def iqr(self) -> float:
        """The distance between the quartiles of `times`, 0 of one."""
        if len(self.raw_times) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.times, n=4, method="inclusive")
        return high - low

    @property
    def title(self) -> str:
        """What was measured."""
        return self.task_spec.title

    @property
    def as_row_name(self) -> str:
        """The name of its row in a `Compare`."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    @property
    def env(self) -> str:
        """The environment that the timer was told."""
        return self.task_spec.env or "Unspecified env"

    def meets_confidence(self, threshold: float = 0.1) -> bool:
        """Whether the quartiles are less than that part of the median apart."""
        return self.iqr / self.median < threshold if self.median else True

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Measurements with those of one task joined."""
        found: dict[tuple[TaskSpec, int], list[float]] = {}
        for m in measurements:
            found.setdefault((m.task_spec, m.number_per_run), []).extend(m.raw_times)
        return [Measurement(number, times, spec) for (spec, number), times in found.items()]

    def __repr__(self) -> str:
        unit, scale = time_unit(self.median)
        count, threads = len(self.raw_times), self.task_spec.num_threads
        lines = [f"<{type(self).__module__}.Measurement> {self.title}"]
        lines += [f"setup: {self.task_spec.setup}"] if self.task_spec.setup not in ("", "pass") else []
        if count == 1:
            lines += [f"  {self.median / scale:.2f} {unit}"]
            lines += [f"  1 measurement, {self.number_per_run} runs , {threads} thread(s)"]
        else:
            lines += [
                f"  Median: {self.median / scale:.2f} {unit}",
                f"  IQR:    {self.iqr / scale:.2f} {unit}",
            ]
            lines += [
                f"  {count} measurements, {self.number_per_run} runs per measurement, {threads} thread(s)"
            ]
        return "\n".join(lines)


def time_unit(seconds: float) -> tuple[str, float]:
    """A unit in which a time is told, and the seconds that it is."""
    for unit, scale in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if seconds < 1e3 * scale:
            return unit, scale
    return "s", 1.0
