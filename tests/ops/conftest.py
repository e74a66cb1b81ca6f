"""Fixtures of the op table."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from gradd_engine.backends.array import NUMPY
from gradd_engine.data.rng import RandomStream
from gradd_engine.data.state import ambient


@pytest.fixture(autouse=True)
def stream() -> Iterator[None]:
    """A random stream and the NumPy backend for every test."""
    with ambient(generator=RandomStream(0), backend=NUMPY):
        yield
