"""Times of a request, for its `Server-Timing` header.

Source: https://www.w3.org/TR/server-timing/.
"""

from __future__ import annotations

from contextvars import ContextVar
from time import perf_counter


class Timing:
    """The times of a request in seconds: in the engine, and in the queue and transit."""

    def __init__(self) -> None:
        self._began = perf_counter()
        self.engine = self.queue = 0.0
        #: whether the engine was asked at all
        self.asked = False

    def add(self, total: float, ran: float) -> None:
        """Add a frame that took `total` seconds, `ran` of them in the session."""
        self.asked = True
        self.engine += ran
        self.queue += max(0.0, total - ran)

    @property
    def seconds(self) -> float:
        """How long ago the request came."""
        return perf_counter() - self._began

    def header(self) -> str:
        """The value of `Server-Timing`, in milliseconds."""
        total = f"total;dur={1e3 * self.seconds:.3f}"
        if not self.asked:
            return total
        return f"engine;dur={1e3 * self.engine:.3f}, queue;dur={1e3 * self.queue:.3f}, {total}"


current: ContextVar[Timing | None] = ContextVar("timing", default=None)
"""The timing of the current task's request."""
