"""A device that is held: whoever waits for it finds that nothing was done in the meantime."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

#: runs until it is let go, or for so many nanoseconds: whoever waits for it must come to an end too
SOURCE = r"""
__device__ long long now() { long long t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); return t; }
extern "C" __global__ void hold(const volatile int* gone, long long most) {
    long long began = now();
    while (!*gone && now() - began < most) { }
}
"""
#: longer than a step takes to launch
MOST = 10_000_000_000


@contextmanager
def held(xp: Any, most: int = MOST) -> Iterator[None]:
    """Nothing that is launched in the block runs before its end. AssertionError where the block waited for
    that, until the device was let go by itself.
    """
    room = xp.cuda.alloc_pinned_memory(4)
    gone = np.frombuffer(room, np.int32, 1)
    gone[0] = 0
    done = xp.cuda.Event(disable_timing=True)
    hold = xp.RawKernel(SOURCE, "hold")
    hold.compile()
    xp.cuda.get_current_stream().synchronize()
    hold((1,), (1,), (room.ptr, most))
    done.record()
    try:
        yield
        assert not done.done, "waited for the device"
    finally:
        gone[0] = 1
        done.synchronize()
