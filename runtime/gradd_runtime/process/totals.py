"""What an engine process tells of itself: its meter's counts, and what its present sessions add to them."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from .meter import RECENT, Figures, Meter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .hosting import Hosted


def figures_of(meter: Meter, sessions: Iterable[Hosted]) -> Figures:
    """The figures of an engine process that holds `sessions`."""
    figures = meter.figures()
    awake = []
    for hosted in sessions:
        hosted.tell(figures)
        if hosted.session is not None:
            awake.append(hosted)
    recent = heapq.nlargest(RECENT, awake, key=lambda hosted: hosted.answered)
    # One may have left meanwhile, where another thread asks.
    figures.recent = [told for hosted in recent if (told := hosted.figures()) is not None]
    return figures
