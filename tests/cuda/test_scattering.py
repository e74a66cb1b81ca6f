"""Sums by index whose indices are sorted first, as over large tables, and indices out of bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradd_engine.data import Doubts, ambient
from gradd_engine.kernels.cuda import NATIVE, scattering

from tests import standin
from tests.cuda import host, index_cases
from tests.cuda.cases import Case, complaint, refuse

pytestmark = pytest.mark.skipif(host.MISSING is not None, reason=str(host.MISSING))

SUMS = [c for c in index_cases.CASES if c.op in ("embedding_backward", "index_add", "index_put_add", "put")]


@pytest.mark.parametrize("case", SUMS, ids=str)
def test_sorted_indices_give_what_numpy_gives(monkeypatch: pytest.MonkeyPatch, case: Case) -> None:
    monkeypatch.setattr(scattering, "LONG", 0)
    assert complaint(case, "float32") is None


def _called(op: str, index: int) -> Any:
    xp = standin.CUPY
    a, at = xp.ones((5, 2), np.float32), xp.asarray(np.array([1, index, 0]))
    g, kernel = xp.ones((3, 2), np.float32), NATIVE[op](refuse)
    if op == "embedding_backward":
        return kernel(xp, g, at, 5, None, False)
    if op == "index_put_add":
        return kernel(xp, g, [at], [5, 2])
    if op == "index_write":
        return kernel(xp, a, [at], g, False)
    if op == "index_copy":
        return kernel(xp, a, at, g, 0)
    if op == "put":
        return kernel(xp, a, at, g[:, 0], True)
    if op == "place":
        return kernel(xp, g, xp.stack([at, at], axis=1), 0, True, [5, 2])
    if op == "index_add":
        return kernel(xp, a, at, g, 0, 1)
    return kernel(xp, a, xp.stack([at, at], axis=1), g, 0)


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("op", sorted(scattering.NATIVE))
def test_an_index_out_of_bounds_is_told(monkeypatch: pytest.MonkeyPatch, op: str, sort: bool) -> None:
    if sort:
        monkeypatch.setattr(scattering, "LONG", 0)
    high, low = (
        (10, -11) if op == "put" else (5, -6 if op in ("index_copy", "index_write", "index_put_add") else -1)
    )
    _called(op, high - 1)
    _called(op, 0 if low == -1 else low + 1)
    for index in (high, low):
        with pytest.raises((IndexError, RuntimeError), match=r"out of (range|bounds)"):
            _called(op, index)


@pytest.mark.parametrize("op", ["index_select", "gather"])
def test_a_result_shows_nothing_of_the_memory_it_is_in(op: str) -> None:
    xp = standin.CUPY
    a, doubts = xp.ones((5, 2), np.float32), Doubts()
    at = np.array([7, 1, -9])
    index = xp.asarray(at if op == "index_select" else np.stack([at, at], axis=1))
    with ambient(doubts=doubts):
        found = NATIVE[op](refuse)(xp, a, index, 0)
    assert found.get().tolist() == [[0, 0], [1, 1], [0, 0]]
    with pytest.raises((IndexError, RuntimeError)):
        doubts.settle()
