"""Streams and events (torch.cuda.Stream, Event): a session runs what is recorded in one order, so that only
the times of events say something.

An event is the time at which all that was recorded before it has been done: `record` waits for it where the
event measures time.
"""

from __future__ import annotations

from time import perf_counter
from types import TracebackType
from typing import Any

from .._session import current


class Stream:
    """A place in a session's one order (torch.cuda.Stream). As a context it has no effect."""

    def __init__(self, device: Any = None, priority: int = 0, **options: Any) -> None:
        self.device = current().backend.device
        self.priority = priority

    def synchronize(self) -> None:
        """Wait until what was recorded has been done."""
        current().flush()

    def query(self) -> bool:
        """True, after waiting for what was recorded."""
        self.synchronize()
        return True

    def wait_event(self, event: Event) -> None:
        """Has no effect: what was recorded before has been done before."""

    def wait_stream(self, stream: Stream) -> None:
        """Has no effect: what was recorded before has been done before."""

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event, a new one unless it is given."""
        found = Event() if event is None else event
        found.record(self)
        return found

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The block is over."""


class _Event:
    """A moment of a session (torch.cuda.Event); with `enable_timing` it can be measured from another."""

    def __init__(
        self,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
        external: bool = False,
    ) -> None:
        if interprocess:
            raise NotImplementedError("events of several processes are not yet supported by gradd")
        self._timed = enable_timing
        self._at: float | None = None

    def record(self, stream: Any = None) -> None:
        """The moment is now: with `enable_timing` after waiting for what was recorded."""
        if self._timed:
            current().flush()
        self._at = perf_counter()

    def wait(self, stream: Any = None) -> None:
        """Has no effect: what was recorded before has been done before."""

    def synchronize(self) -> None:
        """Wait until what was recorded has been done."""
        current().flush()

    def query(self) -> bool:
        """True, after waiting for what was recorded."""
        self.synchronize()
        return True

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to another. RuntimeError unless both were recorded, with
        `enable_timing`.
        """
        if not (self._timed and end_event._timed):
            raise RuntimeError("Both events must be created with argument 'enable_timing=True'.")
        if self._at is None or end_event._at is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return 1e3 * (end_event._at - self._at)


Event = _Event


class StreamContext:
    """A context in which a stream is the current one (torch.cuda.StreamContext): it has no effect."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        """The block begins."""

    def __exit__(self, *exc: object) -> None:
        """The block is over."""


def stream(stream: Any) -> StreamContext:
    """A context in which a stream is the current one (torch.cuda.stream): it has no effect."""
    return StreamContext(stream)


def current_stream(device: Any = None) -> Stream:
    """The stream of all that is recorded (torch.cuda.current_stream)."""
    return Stream()


def default_stream(device: Any = None) -> Stream:
    """The stream of all that is recorded (torch.cuda.default_stream)."""
    return Stream()


def set_stream(stream: Stream) -> None:
    """Has no effect (torch.cuda.set_stream)."""
