"""A plan's calls, each timed: used instead of the straight function while a profiler is on."""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..program import Profiler
    from .registers import PlanStep, Registers


def timed(steps: Sequence[PlanStep], profiler: Profiler) -> Iterator[PlanStep]:
    """The steps of a plan; each is timed when it runs."""
    for step in steps:
        yield step._replace(run=partial(_time, step, profiler))


def _time(step: PlanStep, profiler: Profiler, registers: Registers) -> None:
    began = perf_counter()
    step.run(registers)
    profiler.synchronize()
    profiler.kernel(step.name, "planned", began)
