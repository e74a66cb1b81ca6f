"""Fixtures of the runtime's tests."""

from __future__ import annotations

import gc

import pytest
from gradd_engine.backends.array import NUMPY


@pytest.fixture(scope="module")
def settled() -> None:
    """What is loaded stays: collections that a test asks for need not look through it."""
    NUMPY.kernels.load()
    gc.collect()
    gc.freeze()
