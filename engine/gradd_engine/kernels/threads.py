"""Threads that share one kernel's work, with a single-threaded BLAS in each.

There are as many as BLAS has (in an engine process: `--threads T`) unless `set_threads` changes that. Kernels
split work by shapes alone, so results do not depend on the number of threads.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: array elements that justify waking one more thread
LOAD = 1 << 17
#: maximum number of threads
MOST = 64


class _Blas:
    """The thread count of NumPy's own OpenBLAS; with another BLAS it counts as 1."""

    def __init__(self) -> None:
        self._get, self._set = (blas_symbol(f"openblas_{verb}_num_threads") for verb in ("get", "set"))
        self._lock = threading.Lock()
        self._inside = 0
        self._before = 1

    def count(self) -> int:
        """How many threads a matrix product may use."""
        return 1 if self._get is None else int(self._get())

    @contextmanager
    def single(self) -> Iterator[None]:
        """Limit BLAS to one thread, in the whole process: OpenBLAS has no per-thread setting."""
        if self._set is None:
            yield
            return
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._before = self.count()
                if self._before > 1:
                    self._set(1)
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0 and self._before > 1:
                    self._set(self._before)


def blas_symbol(name: str) -> Any:
    """A function of NumPy's BLAS under any of the names OpenBLAS builds use, or None."""
    with suppress(ImportError, OSError):
        linked: Any = import_module("numpy._core._multiarray_umath")
        library = ctypes.CDLL(linked.__file__)
        for spelling in (f"scipy_{name}64_", f"scipy_{name}", f"{name}64_", name):
            if hasattr(library, spelling):
                return getattr(library, spelling)
    return None


class _Pool:
    """The number of threads, and the executor of the helpers, which starts them when needed."""

    def __init__(self) -> None:
        self.threads = _blas.count()
        self.renew()

    def renew(self) -> None:
        """Start without threads: a forked child has none."""
        self.helpers = ThreadPoolExecutor(MOST, "gradd-kernels")


_blas = _Blas()
_pool = _Pool()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.renew)


def blas_threads() -> int:
    """How many threads a matrix product may use."""
    return _blas.count()


def threads() -> int:
    """The number of threads a kernel may use."""
    return _pool.threads


def set_threads(count: int) -> None:
    """Let kernels use `count` threads; ValueError unless there is at least one."""
    if count < 1:
        raise ValueError(f"a kernel needs a thread at least, not {count}")
    _pool.threads = count


def share(xp: Any, parts: int, load: int, work: Callable[[Iterator[int]], None]) -> None:
    """Call `work` in one or several threads, with iterators that together yield every number below `parts`.

    `load` is the work's size in array elements: small work stays in this thread, and so does work on arrays
    other than NumPy's (a device and its stream belong to a thread). An exception from any part is raised
    here, after all threads have stopped.
    """
    helpers = min(threads(), parts, load // LOAD, MOST) - 1 if xp is np else 0
    with _blas.single():
        if helpers < 1:
            work(iter(range(parts)))
            return
        left = deque(range(parts))
        # Each runs in a copy of this context, which holds the floating-point warning settings.
        submit = _pool.helpers.submit
        others = [submit(copy_context().run, work, _taken(left)) for _ in range(helpers)]
        try:
            work(_taken(left))
        finally:
            left.clear()
            raised = [*filter(None, [other.exception() for other in others])]
            others.clear()
        try:
            if raised:
                raise raised[0]
        finally:
            raised.clear()  # its traceback refers to this frame


def _taken(left: deque[int]) -> Iterator[int]:
    while True:
        try:
            number = left.popleft()
        except IndexError:
            return
        yield number
