"""Shared by the client's tests: PyTorch and gradd, in turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradd
import pytest
from gradd._surface import overridable

from tests.client.replicas import connected
from tests.oracle import ITSELF, module


@pytest.fixture(params=[*ITSELF, "gradd"])
def T(request: pytest.FixtureRequest) -> Iterator[Any]:
    """`torch`, the oracle, or `gradd` with a local session as the current one: every test runs on both."""
    if request.param == "torch":
        yield module()
        return
    with gradd.connect("local:"):
        yield gradd


@pytest.fixture
def sessions() -> Iterator[list[Any]]:
    """Three sessions in this process."""
    made = connected(3)
    yield made
    for session in made:
        session.close()


@pytest.fixture(params=["local", "stream", "http"])
def anywhere(request: pytest.FixtureRequest) -> Iterator[list[Any]]:
    """Three sessions, in this process or in a daemon."""
    if request.param == "local":
        made = connected(3)
    else:
        url = request.getfixturevalue("daemon")
        made = [gradd.connect(url, transport=request.param) for _ in range(3)]
    yield made
    for session in made:
        session.close()


@pytest.fixture(scope="module")
def as_declared() -> Iterator[None]:
    """For tests that derive classes from `Tensor`: others see the functions as they were declared."""
    yield
    overridable.end()
