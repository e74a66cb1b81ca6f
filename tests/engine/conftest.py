"""What tests of the engine share."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from gradd_engine.kernels import KernelTable


@pytest.fixture(scope="module")
def table() -> KernelTable:
    """Compiled kernels."""
    if importlib.util.find_spec("numba") is None:
        pytest.skip("numba, which compiles kernels, is not installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADD_KERNELS", "jit")
        found = KernelTable(np)
        found.load()
    return found
