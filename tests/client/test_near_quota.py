"""A session near its quota, whose script catches the error and goes on."""

from __future__ import annotations

import gc
import itertools
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress

import gradd
import httpx
import numpy as np
import pytest

from benchmarks.daemon import serving
from tests.bearer import bearer

QUOTA = 12 << 20
LARGE = np.ones(8 << 20, np.uint8)
_numbers = itertools.count()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving() as (found, _):
        yield found


@pytest.fixture(params=["stream", "http"])
def small(url: str, request: pytest.FixtureRequest) -> Iterator[gradd.Session]:
    """A session with a quota of 12 MiB."""
    name = f"small{next(_numbers)}"
    made = httpx.put(f"{url}/v1/sessions/{name}", json={"quota_bytes": QUOTA}, headers=bearer(url))
    assert made.status_code == 201
    with gradd.connect(url, name, transport=request.param) as session:
        yield session


@pytest.mark.usefixtures("small")
def test_an_upload_finds_the_room_of_what_is_dead() -> None:
    for _ in range(3):
        t = gradd.from_numpy(LARGE)
        assert t[-1].item() == 1
        del t


@pytest.mark.usefixtures("small")
def test_an_upload_over_the_quota_raises_as_any_allocation() -> None:
    kept = gradd.from_numpy(LARGE)
    for size in (8 << 20, 13 << 20):
        with pytest.raises(RuntimeError):
            gradd.from_numpy(np.ones(size, np.uint8))
    assert kept[-1].item() == 1


def _too_much(x: gradd.Tensor) -> None:
    x.reshape(2, -1).t().numpy()


def _lost(x: gradd.Tensor) -> None:
    y = x + 1
    with suppress(RuntimeError):
        y.tolist()
    y.tolist()


def _fails(fail: Callable[[gradd.Tensor], None]) -> weakref.ref[gradd.Tensor]:
    x = gradd.from_numpy(LARGE)
    failed = True
    with suppress(RuntimeError):  # pytest.raises would hold it
        fail(x)
        failed = False
    assert failed
    return weakref.ref(x)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("fail", [_too_much, _lost])
def test_an_error_that_was_caught_holds_no_tensors(fail: Callable[[gradd.Tensor], None]) -> None:
    gc.disable()
    try:
        gone = _fails(fail)
        assert gone() is None
    finally:
        gc.enable()
    assert gradd.from_numpy(LARGE)[-1].item() == 1
