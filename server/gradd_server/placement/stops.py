"""Batches of an engine process that are to stop, and those that go on all the same: a kernel that does not
come back can only be ended with its process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from gradd_protocol import frames
from gradd_protocol.problems import Malformed
from gradd_runtime.process import Bulk, Order, Pending, Running

from gradd_server.wire import MessageHead, message_head

_BATCHES = ("batch", "json-batch", "backward-json")


class Stuck(NamedTuple):
    """The batch that runs: its request, and for how many seconds."""

    request: Pending
    seconds: float
    overdue: float | None
    """Seconds since it was asked to stop, and ran; None if it was not."""


class Stops:
    """The orders that an engine process was given, while they matter, and what it runs. Times are seconds of
    one clock.
    """

    def __init__(self, running: Running) -> None:
        self._running = running
        self._orders: list[tuple[int, Order, float]] = []
        self._number = 0
        self._since = 0.0

    def __bool__(self) -> bool:
        return bool(self._orders)

    def add(self, session: int, order: Order, now: float) -> None:
        """The order was given to the session."""
        self._orders.append((session, order, now))

    def look(self, in_flight: Mapping[int, Pending], now: float) -> Stuck | None:
        """The batch that runs now, if one does."""
        oldest = min(in_flight, default=1 << 63)
        self._orders = [given for given in self._orders if given[1].last >= oldest]
        number = self._running.cell[0]
        if number != self._number:
            self._number, self._since = number, now
        request = in_flight.get(number)
        if request is None or request.again or (head := batch_head(request.frame)) is None:
            return None
        why = told = None
        for session, order, when in self._orders:
            if session == request.session and order.means(number, max(0, head.writer), head.seq):
                why, told = order.problem, now - max(when, self._since)
                break
        if why is not None:
            request.why = why
        return Stuck(request, now - self._since, told)


def batch_head(frame: frames.Bytes | Bulk | None) -> MessageHead | None:
    """The head of a frame, if that is a batch."""
    if frame is None:
        return None
    try:
        head = message_head(frame.map() if isinstance(frame, Bulk) else frame)
    except Malformed:
        return None
    return head if head.type in _BATCHES else None
