"""CUDA graphs on the stand-in: while a stream captures nothing is done; it is done at launches.

New arrays hold nonsense until then. What a real capture refuses is refused here: to wait for the device, to
take memory from the host to it, the default stream.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from . import counting


class CaptureError(RuntimeError):
    """What CuPy raises as a CUDARuntimeError."""


class _State:
    #: what a capture has so far; None where none is under way
    steps: list[Callable[[], None]] | None = None


def capturing() -> bool:
    """Whether what is told now is not done now."""
    return _State.steps is not None


def refuse(what: str) -> None:
    """Raise if a stream captures."""
    if capturing():
        raise CaptureError(f"cudaErrorStreamCaptureUnsupported: {what} while a stream is capturing")


@contextmanager
def done_now() -> Iterator[None]:
    """What is told inside is done, and counted by nobody."""
    steps, _State.steps = _State.steps, None
    kept = counting.LAUNCHES.copy()
    try:
        yield
    finally:
        _State.steps = steps
        counting.LAUNCHES.clear()
        counting.LAUNCHES.update(kept)


def record(work: Callable[[], Any]) -> None:
    """Have it done at launches."""
    assert _State.steps is not None
    _State.steps.append(work)


def making(function: Callable[..., Any]) -> Callable[..., Any]:
    """For functions that return new arrays, or views, or write to `out`."""

    @functools.wraps(function)
    def made(*args: Any, **kw: Any) -> Any:
        if not capturing():
            return function(*args, **kw)
        if kw.get("out") is not None:
            record(lambda: function(*args, **kw))
            out = kw["out"]
            return out[0] if isinstance(out, tuple) and len(out) == 1 else out
        with done_now():
            found = function(*args, **kw)
        new = list(_new(found))
        if new:

            def again() -> None:
                for a, b in zip(new, _new(function(*args, **kw)), strict=True):
                    a._bare[...] = b._bare

            for a in new:
                _spoil(a._bare)
            record(again)
        return found

    return made


def writing(function: Callable[..., Any]) -> Callable[..., Any]:
    """For functions that write to what they are given, and return nothing."""

    @functools.wraps(function)
    def wrote(*args: Any, **kw: Any) -> Any:
        if not capturing():
            return function(*args, **kw)
        record(lambda: function(*args, **kw))
        return None

    return wrote


def _new(found: Any) -> Iterator[Any]:
    """The arrays of a result that are no views."""
    if isinstance(found, (list, tuple)):
        for x in found:
            yield from _new(x)
    elif hasattr(found, "_bare") and found.base is None:
        yield found


def _spoil(a: Any) -> None:
    number = np.nan if a.dtype.kind in "fcV" else True if a.dtype.kind == "b" else -1
    a[...] = np.array(number).astype(a.dtype)


class Graph:
    """``cupy.cuda.Graph``."""

    def __init__(self, steps: list[Callable[[], None]]) -> None:
        self._steps = steps

    def upload(self, stream: Any = None) -> None:
        """Take it to the device."""
        refuse("upload")

    def launch(self, stream: Any = None) -> None:
        """Do all of it."""
        refuse("launch of another graph")
        counting.launch("graph")
        with done_now():
            for step in self._steps:
                step()


class Stream:
    """``cupy.cuda.Stream``."""

    _current: ClassVar[list[Stream]] = []

    def __init__(self, null: bool = False, non_blocking: bool = False, ptds: bool = False) -> None:
        self.null = null

    def __enter__(self) -> Stream:
        Stream._current.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        Stream._current.pop()

    @classmethod
    def current(cls) -> Stream:
        """``cupy.cuda.get_current_stream``."""
        return cls._current[-1] if cls._current else DEFAULT

    def synchronize(self) -> None:
        """Wait for it."""
        counting.wait("synchronize")

    def begin_capture(self, mode: Any = None) -> None:
        """From now on nothing is done."""
        assert not self.null, "the default stream cannot capture"
        assert Stream.current() is self, "what another stream is told is not captured"
        refuse("another capture")
        _State.steps = []

    def end_capture(self) -> Graph:
        """What was told since."""
        steps, _State.steps = _State.steps, None
        assert steps is not None, "nothing is captured"
        return Graph(steps)


DEFAULT = Stream(null=True)


class MemoryPool:
    """``cupy.cuda.MemoryPool``; the stand-in's memory is NumPy's."""

    def malloc(self, size: int) -> None:
        """Never called: arrays are NumPy's."""
        raise NotImplementedError("arrays of the stand-in come from NumPy")

    def total_bytes(self) -> int:
        """What it has taken from the device: nothing."""
        return 0


@contextmanager
def using_allocator(malloc: Any = None) -> Iterator[None]:
    """``cupy.cuda.using_allocator``."""
    assert callable(malloc)
    yield
