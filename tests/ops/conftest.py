"""Fixtures of the op table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from gradd_engine.backends.numpy import NUMPY
from gradd_engine.rng import Generator
from gradd_engine.state import ambient


@pytest.fixture(autouse=True)
def stream() -> Iterator[None]:
    """A random stream and the NumPy backend for every test."""
    with ambient(generator=Generator(0), backend=NUMPY):
        yield


@pytest.fixture(scope="session")
def torch() -> Any:
    """PyTorch, the oracle, by itself: where opt_einsum is installed it would contract in another order."""
    found = pytest.importorskip("torch", reason="PyTorch, the oracle, is not installed")
    found.backends.opt_einsum.enabled = False
    return found
