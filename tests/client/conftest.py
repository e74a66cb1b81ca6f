"""Shared by the client's tests: PyTorch and gradd, in turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradd
import pytest

from tests.oracle import ITSELF, module


@pytest.fixture(params=[*ITSELF, "gradd"])
def T(request: pytest.FixtureRequest) -> Iterator[Any]:
    """`torch`, the oracle, or `gradd` with a local session as the current one: every test runs on both."""
    if request.param == "torch":
        yield module()
        return
    with gradd.connect("local:"):
        yield gradd
