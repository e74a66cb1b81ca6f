"""Trainings on the stand-in: the same losses with device kernels, by the launches that docs/gpu.md tells."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cuda import host
from tests.device.loops import measured

PAGE = Path(__file__).parents[2] / "docs/gpu.md"
#: by loop: launches of a planned step by CuPy alone, and with device kernels
SHOWN = {
    name: (int(alone), int(fewer))
    for name, alone, fewer in re.findall(
        r"^\| `([\w ]+)`: .*? \| (\d+) \| (\d+) \| [\d.]+ \|$", PAGE.read_text(), re.MULTILINE
    )
}

pytestmark = pytest.mark.skipif(host.MISSING is not None, reason=str(host.MISSING))


@pytest.mark.parametrize("name", ["convnet", "lstm", "mlp adam", "transformer"])
def test_device_kernels_save_launches(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("GRADD_CUDA_KERNELS", "0")
    alone = measured(name, planned=True)
    monkeypatch.setenv("GRADD_CUDA_KERNELS", "1")
    fewer = measured(name, planned=True)
    assert fewer.losses == pytest.approx(alone.losses, rel=2e-4, abs=1e-4)
    assert (alone.launches, fewer.launches) == SHOWN[name]
