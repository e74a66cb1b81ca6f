"""Plans as CUDA graphs that read and write at uploads: random loops give what a NumPy session gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradd_engine.ops.index import index_select
from gradd_runtime.plan.captured import GraphCapture
from gradd_runtime.plan.graph import PlanGraph
from gradd_runtime.plan.lower import Lowering

from tests.cuda import host
from tests.device import graphs, indices
from tests.device.graphs import differ, outcomes
from tests.standin import graphs as capturing

#: loops that wait for nothing, and hold what one of the faults writes to
SEEDS = [
    n
    for n in range(900)
    if indices.index_ways(n) >= {"uploads held", "index_fill"} and not graphs.waiting_ways(n)
]

pytestmark = pytest.mark.skipif(host.MISSING is not None, reason=str(host.MISSING))


@pytest.mark.parametrize("more", [(), *[(way,) for way in indices.BECOMES]], ids=str)
def test_all_that_loops_do_at_uploads_gives_what_numpy_gives(
    monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    monkeypatch.setattr(graphs, "index_ways", lambda seed: {*indices.INDEXED, *indices.WRITES, *more})
    with outcomes() as found:
        assert differ(3) == ""
    assert found["launched"] >= 4


def _put_in_place(index: Any, size: int, dim: int) -> None:
    """A fault: negative indices are made positive in the memory of whoever gave them."""
    _IN_RANGE(index, size, dim)
    if not isinstance(index, np.ndarray):
        index += (index < 0) * size


def _not_watched(self: Lowering, register: int, block: Any) -> None:
    """A fault: nobody asks where an upload is."""
    _EARLY(self, register, block)
    if block.source is None:
        del self.outer[register]


def _staged_once(self: GraphCapture, *args: Any) -> None:
    """A fault: what is elsewhere each time is copied only when a graph is made."""
    _RUN(self, *args)
    self._stage = lambda those, to: None


_IN_RANGE, _EARLY, _RUN = index_select.in_range, Lowering._early, GraphCapture.run
_NEW = capturing._new


@pytest.mark.parametrize(
    ("of", "name", "planted"),
    [
        (index_select, "in_range", _put_in_place),
        (Lowering, "_early", _not_watched),
        (GraphCapture, "run", _staged_once),
        (PlanGraph, "_addresses", lambda self, arrays: {}),
        (capturing, "_new", lambda found, given: _NEW(found, set())),
    ],
)
def test_the_finder_sees_a_fault_at_uploads(
    monkeypatch: pytest.MonkeyPatch, of: Any, name: str, planted: Any
) -> None:
    monkeypatch.setattr(of, name, planted)
    assert any(differ(seed) for seed in SEEDS)
