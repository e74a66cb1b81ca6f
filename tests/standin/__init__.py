"""A strict stand-in for CuPy 14 over NumPy: what CuPy refuses, it refuses, and it counts waits.

It tells what the CuPy backend would raise and wait for on a machine without a GPU. It says nothing about
speed, the order of atomics or what a kernel does outside of its bounds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from gradd_engine.kernels.cuda.cublas import LIBRARIES, functions

from .blas import FakeBlas
from .counting import ENGINE, LAUNCHES, WAITS, reset
from .cupy_like import CUPY

__all__ = ["CUPY", "ENGINE", "LAUNCHES", "WAITS", "installed", "reset"]

LIBRARIES[CUPY] = functions(FakeBlas(CUPY))


@contextmanager
def installed() -> Iterator[None]:
    """``import cupy`` finds the stand-in, within the block."""
    with mock.patch.dict(sys.modules, {"cupy": CUPY}):
        yield
