"""The fixture of this room: where a test computes. Tests on the GPU are marked `gpu`.

Under `make gpu` (GRADD_GPU) none is skipped, what each came to is kept, and what passed before is left out.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cuda import host
from tests.gpu.places import GpuPlace, stand_in, the_gpu
from tools.gpu.kept import KeptSteps, StepSaid

#: what is kept, and of which sources and device
_KEPT = os.environ.get("GRADD_GPU_KEPT", "")


def _kept() -> KeptSteps:
    return KeptSteps(Path(_KEPT), os.environ["GRADD_GPU_OF"])


@pytest.fixture(scope="module", params=[pytest.param("gpu", marks=pytest.mark.gpu), "standin"])
def place(request: pytest.FixtureRequest) -> GpuPlace:
    """Where a test computes."""
    if request.param == "standin":
        if host.MISSING is not None:
            pytest.skip(host.MISSING)
        return stand_in()
    try:
        return the_gpu()
    except (ImportError, RuntimeError) as missing:
        if os.environ.get("GRADD_GPU"):
            raise
        pytest.skip(f"needs a GPU and cupy: {missing}")


@pytest.fixture(autouse=True)
def lost(place: GpuPlace) -> Iterator[None]:
    """A process that lost its device ends, so that xdist goes on in another."""
    yield
    if place.gpu and place.lost():
        print("the device does not answer any more: this process ends", file=sys.stderr, flush=True)
        os._exit(70)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what passed before, and on the stand-in all parts of a test but the first."""
    before = _kept().latest() if _KEPT else {}
    gone = [item for item in items if _is_later_part(item) or _passed(before, item)]
    items[:] = [item for item in items if item not in gone]
    config.hook.pytest_deselected(items=gone)


def _is_later_part(item: pytest.Item) -> bool:
    params = item.callspec.params if hasattr(item, "callspec") else {}
    return params.get("place") == "standin" and params.get("part", 0) > 0


def _passed(before: dict[str, StepSaid], item: pytest.Item) -> bool:
    return item.nodeid in before and before[item.nodeid].outcome == "passed"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep what a test came to; of xdist's processes the first one writes."""
    decides = report.when == "call" or not report.passed
    if _KEPT and decides and "PYTEST_XDIST_WORKER" not in os.environ:
        text = "" if report.passed else report.longreprtext[-2000:]
        _kept().add(report.nodeid, report.outcome, report.duration, text)
