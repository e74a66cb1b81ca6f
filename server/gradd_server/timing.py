"""Times of a request, for its `Server-Timing` header and its spans.

Source: https://www.w3.org/TR/server-timing/.
"""

from __future__ import annotations

from concurrent.futures import Future
from contextvars import ContextVar
from time import perf_counter
from typing import Any, NamedTuple

from gradd_runtime.process import Pending

_LATEST = 64


class Asked(NamedTuple):
    """A frame that an engine process answered: when it was submitted and answered (s of `perf_counter`), and
    how many seconds of that it `ran`.
    """

    submitted: float
    answered: float
    ran: float

    @property
    def moments(self) -> tuple[float, float, float]:
        """When it was submitted, began to run, and was answered: an answer is under way for no time that
        counts.
        """
        return self.submitted, max(self.submitted, self.answered - self.ran), self.answered


class Timing:
    """The times of a request: when it came, seconds in the engine, and in its queue and in transit."""

    __slots__ = ("asked", "came", "engine", "queue")

    def __init__(self) -> None:
        self.came = perf_counter()
        self.engine = self.queue = 0.0
        #: the latest frames: a request that lasts may ask for many
        self.asked: list[Asked] = []

    def note(self, submitted: float, replying: Future[Any] | Pending) -> None:
        """Add a frame that was submitted then and is answered, by an engine process if it has a number."""
        if isinstance(replying, Pending) and replying.number:
            answered = replying.answered or perf_counter()  # by its process, or in its place
            self.asked.append(Asked(submitted, answered, replying.ran))
            del self.asked[:-_LATEST]
            self.engine += replying.ran
            self.queue += max(0.0, answered - submitted - replying.ran)

    @property
    def seconds(self) -> float:
        """How long ago the request came."""
        return perf_counter() - self.came

    def header(self) -> str:
        """The value of `Server-Timing`, in milliseconds."""
        total = f"total;dur={1e3 * self.seconds:.3f}"
        if not self.asked:
            return total
        return f"engine;dur={1e3 * self.engine:.3f}, queue;dur={1e3 * self.queue:.3f}, {total}"


current: ContextVar[Timing | None] = ContextVar("timing", default=None)
"""The timing of the current task's request."""
