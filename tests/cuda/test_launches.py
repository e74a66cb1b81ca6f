"""Trainings on the stand-in: the same losses with device kernels, by the launches that docs/gpu.md tells."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cuda import host
from tests.device.loops import measured

PAGE = Path(__file__).parents[2] / "docs/gpu.md"
#: by loop: launches of a planned step by CuPy alone, with device kernels, and as a graph
SHOWN = {
    name: (int(alone), int(fewer), int(graph))
    for name, alone, fewer, graph in re.findall(
        r"^\| `([\w ]+)`: .*? \| (\d+) \| (\d+) \| [\d.]+ \| (\d+) \|$", PAGE.read_text(), re.MULTILINE
    )
}

pytestmark = pytest.mark.skipif(host.MISSING is not None, reason=str(host.MISSING))


@pytest.mark.parametrize("name", ["convnet", "lstm", "mlp adam", "transformer"])
def test_device_kernels_save_launches(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("GRADD_CUDA_KERNELS", "0")
    alone = measured(name, planned=True)
    monkeypatch.setenv("GRADD_CUDA_KERNELS", "1")
    monkeypatch.setenv("GRADD_CUDA_GRAPHS", "0")
    fewer = measured(name, planned=True)
    monkeypatch.setenv("GRADD_CUDA_GRAPHS", "1")
    graph = measured(name, planned=True)
    for run in (fewer, graph):
        assert run.losses == pytest.approx(alone.losses, rel=2e-4, abs=1e-4)
    found = alone.launches, fewer.launches, graph.launches
    assert found == SHOWN[name]
    assert 8 * fewer.launches <= alone.launches
