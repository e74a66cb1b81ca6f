"""Every op's samples, in all dtypes and layouts: the results, gradients and refusals of NumPy's kernels."""

from __future__ import annotations

import pytest

from tests.device.runs import complaint, runs
from tests.gpu.places import GpuPlace

#: parts that are run and kept each by itself
PARTS = 32


@pytest.mark.parametrize("part", range(PARTS))
def test_samples_give_what_numpy_gives(place: GpuPlace, part: int) -> None:
    on = place.backend()
    every = [*runs()][part::PARTS]
    assert place.faults(every, lambda run: complaint(run, on, place.near, place.half)) == {}
