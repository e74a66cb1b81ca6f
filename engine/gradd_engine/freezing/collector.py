"""The collector of garbage, out of the way."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

LITTLE = 0.001
"""Share of what lives; if a full collection found no more, the next may wait."""
FEW = 1000
"""Objects that a collection of the middle generation leaves alive, at least, where it is said what waits."""


@contextmanager
def uncollected() -> Iterator[None]:
    """Make much that stays without looking through all of it for garbage again and again: that takes several
    times as long as making it.
    """
    ran = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if ran:
            gc.enable()


class Doubling:
    """Lets full collections wait until about as much again was made as lives, where at least `most` objects
    live and the collection before found next to none to free; else they come as the interpreter has them,
    which is when a quarter was added. Each part of a graph that grows is looked through twice then, not five
    times. To be put among `gc.callbacks`.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._usual = self._set = gc.get_threshold()[2]
        self._alive = self._ran = 0

    def __call__(self, phase: str, info: dict[str, Any]) -> None:
        if phase != "stop" or info["generation"] != 2:
            return
        first, second, third = gc.get_threshold()
        if third != self._set:  # by the user
            self._usual = self._set = third
        # What is counted are collections of the middle generation.
        alive, ran = len(gc.get_objects(generation=2)), gc.get_stats()[1]["collections"]
        each = (alive - self._alive) // max(1, ran - self._ran)
        self._alive, self._ran = alive, ran
        if alive >= self._most and info["collected"] <= LITTLE * alive and third:
            self._set = max(self._usual, alive // min(max(each, FEW), first * (second + 1) + 1))
        else:
            self._set = self._usual
        if self._set != third:
            gc.set_threshold(first, second, self._set)
