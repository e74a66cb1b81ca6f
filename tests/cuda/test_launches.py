"""Whole trainings on the stand-in: the same losses with device kernels, by the launches of docs/gpu.md."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cuda import host, training

PAGE = Path(__file__).parents[2] / "docs/gpu.md"

pytestmark = pytest.mark.skipif(host.MISSING is not None, reason=str(host.MISSING))


def _shown() -> dict[str, tuple[int, int, int]]:
    """By training: launches without device kernels and with them, and waits, as docs/gpu.md has them."""
    rows = re.findall(r"^\| `(\w+)`: .*? \| (\d+) \| (\d+) \| (\d+) \|$", PAGE.read_text(), re.MULTILINE)
    return {name: (int(alone), int(fewer), int(waits)) for name, alone, fewer, waits in rows}


@pytest.mark.parametrize("what", [training.mlp, training.transformer, training.images])
def test_device_kernels_save_launches(what: Callable[[], Callable[[], Any]]) -> None:
    loss, launches, waits = training.train(what, "0")
    found, fewer, waited = training.train(what, "1")
    assert found == pytest.approx(loss, rel=2e-4, abs=1e-4)
    assert (launches, fewer, waited) == _shown()[what.__name__]
    assert waited <= waits
