"""The device kernels, run by a device: the values of the kernels over NumPy."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from gradd_engine.data import rng
from gradd_engine.kernels.cuda import NATIVE
from gradd_engine.kernels.cuda.sources import FLOATS

from tests.cuda import fused_cases as fused
from tests.cuda.cases import complaint, half_complaint, meta, refuse
from tests.cuda.test_kernels import CASES, HALVES
from tests.gpu.placed import run
from tests.gpu.places import GpuPlace

#: how many last places CUDA's functions may differ from NumPy's by
NEAR = 8
PARTS = 8


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("part", range(PARTS))
def test_they_give_what_numpy_gives(place: GpuPlace, part: int, dtype: str) -> None:
    assert place.faults(CASES[part::PARTS], lambda case: complaint(case, dtype, place.xp)) == {}


@pytest.mark.parametrize("part", range(PARTS))
def test_they_take_16_bits_too(place: GpuPlace, part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in list(sys.modules.values()):
        if module.__name__.startswith("gradd_engine.kernels.cuda.") and hasattr(module, "REALS"):
            monkeypatch.setattr(module, "REALS", FLOATS)
    assert place.faults(HALVES[part::PARTS], lambda case: half_complaint(case, place.xp)) == {}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_random_numbers_are_those_of_rng(place: GpuPlace, dtype: str) -> None:
    key, size, wide = (67280421310721, 3), 1030, dtype == "float64"
    made = [
        place.xp.asnumpy(
            NATIVE[name](refuse)(place.xp, size=[size], dtype=None, meta=meta([size], dtype), key=key)
        )
        for name in ("rand", "randn")
    ]
    assert made[0].tobytes() == rng.uniform(key, size, wide).tobytes()
    near = 1e-13 if wide else 1e-5
    np.testing.assert_allclose(made[1], rng.normal(key, size, wide), rtol=near, atol=near)


@pytest.mark.parametrize("kind", list("fdqihbB?"))
def test_fused_expressions_are_numpys_ufuncs(place: GpuPlace, kind: str) -> None:
    for turn in place.some((0, 1)):
        assert fused.expression_faults(kind, turn, run(place.xp), NEAR) == []


def test_fused_casts_are_numpys(place: GpuPlace) -> None:
    assert fused.cast_faults(run(place.xp)) == []


def test_fused_parts_go_over_their_own_shapes(place: GpuPlace) -> None:
    assert place.faults(range(64), lambda seed: fused.shaped(seed).faults(run(place.xp))) == {}
