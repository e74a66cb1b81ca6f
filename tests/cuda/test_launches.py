"""Whole trainings on the stand-in: with device kernels the same losses, by far fewer launches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.cuda import host, training

pytestmark = pytest.mark.skipif(host.MISSING is not None, reason=str(host.MISSING))


@pytest.mark.parametrize(
    ("what", "most"), [(training.mlp, 40), (training.transformer, 160), (training.images, 46)]
)
def test_device_kernels_save_launches(what: Callable[[], Callable[[], Any]], most: int) -> None:
    loss, launches, waits = training.train(what, "0")
    found, fewer, waited = training.train(what, "1")
    assert found == pytest.approx(loss, rel=2e-4, abs=1e-4)
    assert fewer <= most < launches
    assert waited <= waits
