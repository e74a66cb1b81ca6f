"""Device kernels as host code give the values of the kernels over NumPy, in whatever order threads run."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from gradd_engine.data import rng as streams
from gradd_engine.kernels.cuda import NATIVE, convolving
from gradd_engine.kernels.cuda.sources import FLOATS

from tests import standin
from tests.cuda import (
    activation_cases,
    channel_cases,
    host,
    index_cases,
    join_cases,
    normal_cases,
    product_cases,
    recurrent_cases,
    reduction_cases,
    row_cases,
    scaling_cases,
    step_cases,
    window_cases,
)
from tests.cuda.cases import Case, complaint, half_complaint, meta, refuse, share

CASES = [
    *activation_cases.CASES,
    *channel_cases.CASES,
    *index_cases.CASES,
    *join_cases.CASES,
    *normal_cases.CASES,
    *product_cases.CASES,
    *recurrent_cases.CASES,
    *reduction_cases.CASES,
    *row_cases.CASES,
    *scaling_cases.CASES,
    *step_cases.CASES,
    *window_cases.CASES,
]

pytestmark = pytest.mark.skipif(host.MISSING is not None, reason=str(host.MISSING))


@pytest.mark.parametrize("dtype", ["float32"] if share() else ["float32", "float64"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_device_kernels_give_what_numpy_gives(case: Case, dtype: str) -> None:
    assert complaint(case, dtype) is None


LARGE = [case for case in CASES if case.op.startswith("convolution") and case.name == "channels"]


@pytest.mark.parametrize("case", LARGE, ids=str)
def test_large_tiles_give_the_same(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convolving, "ENOUGH", 1)
    assert complaint(case, "float32") is None


#: steps take 16 bits in cases of their own; the others have no kernels for them
_OTHER = (
    "adam_step", "adjust_scale", "attend", "attend_backward", "bernoulli_number", "recurrent_layer",
    "recurrent_layer_backward", "rmsprop_step", "sgd_step", "unscale_gradients",
)  # fmt: skip
HALVES = [case for case in CASES if case.op not in _OTHER]


@pytest.mark.parametrize("case", HALVES[::4] if share() else HALVES, ids=str)
def test_they_take_16_bits_too(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in list(sys.modules.values()):
        if module.__name__.startswith("gradd_engine.kernels.cuda.") and hasattr(module, "REALS"):
            monkeypatch.setattr(module, "REALS", FLOATS)
    assert half_complaint(case) is None


def test_every_op_with_a_device_kernel_has_a_case() -> None:
    drawn = {"rand", "randn", "rand_like", "randn_like"}
    assert set(NATIVE) == {case.op for case in CASES} | drawn


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 1030])
@pytest.mark.parametrize("key", [(0, 0), (67280421310721, 3), ((1 << 64) - 1, 1 << 40)])
def test_uniform_numbers_have_the_bits_of_rng(size: int, key: tuple[int, int]) -> None:
    for dtype in ("float32", "float64"):
        made = NATIVE["rand"](refuse)
        got = made(standin.CUPY, size=[size], dtype=None, meta=meta([size], dtype), key=key)
        want = streams.uniform(key, size, dtype == "float64")
        assert got._bare.tobytes() == want.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_numbers_are_those_of_rng(dtype: str) -> None:
    got: Any = NATIVE["randn"](refuse)(
        standin.CUPY, size=[999], dtype=None, meta=meta([999], dtype), key=(5, 7)
    )
    want = streams.normal((5, 7), 999, dtype == "float64")
    np.testing.assert_allclose(got._bare, want, rtol=1e-5 if dtype == "float32" else 1e-13, atol=1e-6)
