"""Shared by the client's tests: PyTorch and gradd, in turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradd
import pytest
from gradd._surface import overridable

from tests.oracle import ITSELF, module


@pytest.fixture(params=[*ITSELF, "gradd"])
def T(request: pytest.FixtureRequest) -> Iterator[Any]:
    """`torch`, the oracle, or `gradd` with a local session as the current one: every test runs on both."""
    if request.param == "torch":
        yield module()
        return
    with gradd.connect("local:"):
        yield gradd


@pytest.fixture(scope="module")
def as_declared() -> Iterator[None]:
    """For tests that derive classes from `Tensor`: others see the functions as they were declared."""
    yield
    overridable.end()
