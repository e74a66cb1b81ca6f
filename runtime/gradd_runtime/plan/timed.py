"""A plan's calls, each timed: what runs in place of the straight function while a profiler measures."""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..program import Profiler
    from .registers import PlanStep, Registers


def timed(steps: Sequence[PlanStep], profiler: Profiler) -> Iterator[PlanStep]:
    """The steps of a plan, each timed as it is run."""
    for step in steps:
        yield step._replace(run=partial(_time, step, profiler))


def _time(step: PlanStep, profiler: Profiler, registers: Registers) -> None:
    began = perf_counter()
    step.run(registers)
    profiler.synchronize()
    profiler.kernel(step.name, "planned", perf_counter() - began)
