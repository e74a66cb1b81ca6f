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
        self._engine = self._queue = 0.0
        self._asked = False

    def asked(self, total: float, ran: float) -> None:
        """Add a frame that took `total` seconds, `ran` of them in the session."""
        self._asked = True
        self._engine += ran
        self._queue += max(0.0, total - ran)

    @property
    def seconds(self) -> float:
        """How long ago the request came."""
        return perf_counter() - self._began

    def header(self) -> str:
        """The value of `Server-Timing`, in milliseconds."""
        total = f"total;dur={1e3 * self.seconds:.3f}"
        if not self._asked:
            return total
        return f"engine;dur={1e3 * self._engine:.3f}, queue;dur={1e3 * self._queue:.3f}, {total}"


current: ContextVar[Timing | None] = ContextVar("timing", default=None)
"""The timing of the current task's request."""
