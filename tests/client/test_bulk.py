"""Large arrays cross with no copy of them in the client and none beside the tensor in the daemon."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gradd
import numpy as np
import pytest

from benchmarks.daemon import Memory, serving

SIZE = 48_000_000
EXTRA = 16_000_000


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[str, int]]:
    with serving() as found:
        yield found


@contextmanager
def at_most(nbytes: int) -> Iterator[None]:
    """Fail where Python's and NumPy's memory of this process rises by more."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("transport", ["stream", "http"])
def test_memory_of_both_sides(served: tuple[str, int], transport: str) -> None:
    url, pid = served
    array = np.arange(SIZE // 4, dtype=np.float32)
    with gradd.connect(url, transport=transport):
        gradd.ones(4).sum().item()

        def up() -> Any:
            with at_most(2_000_000):
                t = gradd.from_numpy(array)
            t.sum().item()  # the session has looked at every page
            return t

        def down(t: Any) -> None:
            with at_most(SIZE + 2_000_000):
                got = t.numpy()
            assert got[[0, 1, -1]].tolist() == array[[0, 1, -1]].tolist()

        t, rise = watched(pid, up)
        assert rise < SIZE + EXTRA
        _, rise = watched(pid, lambda: down(t))
        assert rise < EXTRA


def watched(pid: int, call: Callable[[], Any]) -> tuple[Any, int]:
    """What `call` returned, and how far the daemon's memory rose."""
    memory = Memory(pid)
    return call(), memory.rise()
