"""Fixtures of the front's tests: an app over the fake placement, a client into it, a clock set by hand."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import httpx
import pytest
from gradd_server.app import create_app
from gradd_server.gate import Gate
from gradd_server.settings import Settings

from tests.objectstore import ObjectStore, serving
from tests.server.fake_placement import FakePlacement

OPS = {"sin": {"inputs": ["input"], "attrs": [], "outputs": 1}}


class Clock:
    """A clock that goes when told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Caller:
    """Plain calls into the app; each is one request on a loop of its own, as a curl would be."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._runner = asyncio.Runner()

    def __call__(self, method: str, path: str, **request: Any) -> httpx.Response:
        return self.run(self.send(method, path, **request))

    async def send(self, method: str, path: str, **request: Any) -> httpx.Response:
        transport = httpx.ASGITransport(self._gate, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:4733") as client:
            return await client.request(method, path, **request)

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return self._runner.run(coroutine)

    def close(self) -> None:
        self._runner.close()


@pytest.fixture
def placement() -> Iterator[FakePlacement]:
    placement = FakePlacement()
    yield placement
    placement.shutdown()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def gate(placement: FakePlacement, clock: Clock) -> Gate:
    return create_app(Settings(auth=False), placement, OPS, clock)


@pytest.fixture
def call(gate: Gate) -> Iterator[Caller]:
    caller = Caller(gate)
    yield caller
    caller.close()


def expect_problem(response: httpx.Response, slug: str, status: int) -> dict[str, Any]:
    """Assert that `response` has the one shape of an error; returns its body."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["x-request-id"]
    body: dict[str, Any] = response.json()
    assert body["type"] == f"/problems/{slug}"
    assert body["status"] == status
    assert body["title"]
    assert "Traceback" not in response.text
    return body


Expect = Callable[[httpx.Response, str, int], dict[str, Any]]


@pytest.fixture
def problem() -> Expect:
    return expect_problem


@pytest.fixture
def notes() -> Iterator[list[dict[str, Any]]]:
    """What the audit log says."""
    found: list[dict[str, Any]] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(vars(record)["members"])

    handler, log = Handler(), logging.getLogger("gradd.audit")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    yield found
    log.removeHandler(handler)
    log.setLevel(logging.NOTSET)


@pytest.fixture(scope="module")
def object_store() -> Iterator[ObjectStore]:
    """A store that speaks S3; see `reached`."""
    with serving() as store:
        yield store
