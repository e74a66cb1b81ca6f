"""Where a script waits for its session: the lines that read values, with how often and for how long."""

from __future__ import annotations

import linecache
from collections import deque
from threading import get_ident
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from .._exceptions import line_of
from .._recording import call_site

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType

    from .._exceptions import Site


#: how many of the latest waits are kept
_LATEST = 10_000


class WaitingLine(NamedTuple):
    """A line of the script that waited: the innermost one that is not gradd's."""

    file: str
    line: int
    #: what stands there; empty where the source is not at hand
    code: str
    round_trips: int
    seconds: float


class Waits:
    """Notes each wait of a wire while it is the wire's ``watch``; `counts` are the wire's."""

    def __init__(self, counts: dict[str, int]) -> None:
        self._counts, self._trips = counts, counts["round_trips"]
        self._found: dict[Site, tuple[int, float]] = {}
        #: each of the latest waits: its thread, when it began and ended, and whether a reply was awaited
        self.each: deque[tuple[int, Site, float, float, bool]] = deque(maxlen=_LATEST)

    def __call__(self, patience: AbstractContextManager[None]) -> _Wait:
        """`patience`, measured."""
        return _Wait(self, call_site(3), patience)

    def add(self, site: Site, began: float) -> None:
        """A wait that began at `site`, and then, is over."""
        ended = perf_counter()
        seconds = ended - began
        trips, before = self._found.get(site, (0, 0.0))
        now = self._counts["round_trips"]
        self._found[site] = (trips + now - self._trips, before + seconds)
        self.each.append((get_ident(), site, began, ended, now > self._trips))
        self._trips = now

    def lines(self) -> list[WaitingLine]:
        """The lines that waited for a reply, those that waited most often first."""
        found: dict[tuple[str, int], tuple[int, float]] = {}
        for site, (trips, seconds) in self._found.items():
            at = line_of(site)
            before = found.get(at, (0, 0.0))
            found[at] = (before[0] + trips, before[1] + seconds)
        made = [
            WaitingLine(file, line, linecache.getline(file, line).strip(), trips, seconds)
            for (file, line), (trips, seconds) in found.items()
            if trips
        ]
        return sorted(made, key=lambda each: (-each.round_trips, -each.seconds))


class _Wait:
    """One wait."""

    def __init__(self, waits: Waits, site: Site, patience: AbstractContextManager[None]) -> None:
        self._waits, self._site, self._patience = waits, site, patience

    def __enter__(self) -> None:
        self._began = perf_counter()
        self._patience.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        try:
            return self._patience.__exit__(kind, error, trace)
        finally:
            self._waits.add(self._site, self._began)
