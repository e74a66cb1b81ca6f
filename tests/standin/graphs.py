"""CUDA graphs on the stand-in: while a stream captures nothing is done; it is done at launches.

New arrays hold nonsense until then, and again once nobody has them: a graph's pool gives their memory to
others, in the graph and in those captured beside it. What a real capture refuses is refused here: to wait for
the device, to take memory from the host to it, the default stream.
"""

from __future__ import annotations

import functools
import itertools
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
    #: whether what is done now is told to nobody: to see what shape a result has
    silent = False
    #: whether it is part of a graph's launch
    inside = False


def capturing() -> bool:
    """Whether what is told now is not done now."""
    return _State.steps is not None


def counts(name: str) -> tuple[bool, bool]:
    """Whether the device comes to a kernel that is told now, and whether it is a launch of its own."""
    assert not capturing(), f"{name} would be lost: the stand-in does not capture it"
    return not _State.silent, not (_State.silent or _State.inside)


def refuse(what: str) -> None:
    """Raise if a stream captures; also within what is done once to see a result's shape."""
    if capturing() or _State.silent:
        raise CaptureError(f"cudaErrorStreamCaptureUnsupported: {what} while a stream is capturing")


@contextmanager
def _seen() -> Iterator[None]:
    """What is told inside is done, and no work of the device."""
    steps, _State.steps, _State.silent = _State.steps, None, True
    try:
        yield
    finally:
        _State.steps, _State.silent = steps, False


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
        call = _later(function, args, kw)
        if kw.get("out") is not None:
            record(call)
            out = kw["out"]
            return out[0] if isinstance(out, tuple) and len(out) == 1 else out
        with _seen():
            found = function(*args, **kw)
        theirs = {id(a._bare) for a in _arrays([args, [*kw.values()]])}
        new = [a._bare for a in _new(found, theirs)]
        if new:

            def again() -> None:
                for a, b in zip(new, _new(call(), theirs), strict=True):
                    a[...] = b._bare

            for a in new:
                _spoil(a)
            record(again)
        return found

    return made


def writing(function: Callable[..., Any]) -> Callable[..., Any]:
    """For functions that write to what they are given, and return nothing."""

    @functools.wraps(function)
    def wrote(*args: Any, **kw: Any) -> Any:
        if not capturing():
            return function(*args, **kw)
        record(_later(function, args, kw))
        return None

    return wrote


def _later(function: Callable[..., Any], args: Any, kw: dict[str, Any]) -> Callable[[], Any]:
    """The call for launches; AssertionError there if its memory was given back, which others have then."""
    given, named = _borrowed(args), _borrowed(kw)
    found = [there for a in _arrays([args, [*kw.values()]]) if (there := a._mem.lent()) is not None]

    def call() -> Any:
        assert all(there() is not None for there in found), "a graph has memory that was given back"
        return function(*given, **named)

    return call


def _borrowed(x: Any) -> Any:
    """Arguments as a graph has them: it does not keep memory from being given to others."""
    if isinstance(x, dict):
        return {k: _borrowed(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
        return type(x)(map(_borrowed, x))
    return x.borrowed() if hasattr(x, "_bare") else x


def freed(a: Any) -> None:
    """Nobody has memory of a graph's pool any more, a NumPy array: from now on it holds anything."""
    if capturing():
        record(lambda: _spoil(a))
    else:
        _spoil(a)


def _arrays(x: Any) -> Iterator[Any]:
    """The arrays of arguments, or of a result."""
    if isinstance(x, (list, tuple)):
        for e in x:
            yield from _arrays(e)
    elif hasattr(x, "_bare"):
        yield x


def _new(found: Any, given: set[int]) -> Iterator[Any]:
    """The arrays of a result that are no views, and not what was given: `asarray` may return that."""
    return (a for a in _arrays(found) if a.base is None and id(a._bare) not in given)


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
        _State.inside = True
        try:
            for step in self._steps:
                step()
        finally:
            _State.inside = False


class Stream:
    """``cupy.cuda.Stream``."""

    _current: ClassVar[list[Stream]] = []
    _numbers: ClassVar[Iterator[int]] = itertools.count(1)

    def __init__(self, null: bool = False, non_blocking: bool = False, ptds: bool = False) -> None:
        self.null = null
        self.ptr = 0 if null else next(self._numbers)

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
        """Wait until it has done everything."""
        counting.wait("synchronize")

    @property
    def done(self) -> bool:
        """Whether it has."""
        from .cuda import stream_query

        return stream_query(self.ptr) == 0

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
