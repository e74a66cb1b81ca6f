"""Ufunc methods where the library lacks them, beside NumPy's."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
from gradd_engine.kernels import accumulate, apply_at

from tests import standin

DTYPES = ("float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bool", "complex64")
NAMES = ("add", "multiply", "maximum", "minimum", "logical_or")


def _random(rng: np.random.Generator, shape: Any, dtype: str) -> Any:
    return rng.integers(-3, 4, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_repeated_indices_are_all_applied(name: str, dtype: str) -> None:
    rng = np.random.default_rng(zlib.crc32(f"{name} {dtype}".encode()))
    xp = standin.CUPY
    for shape, at in (
        ((7,), (rng.integers(0, 7, 60),)),
        ((7,), (rng.integers(-7, 7, 60),)),
        ((4, 5), (rng.integers(0, 4, (3, 9)), rng.integers(0, 5, 9))),
        ((4, 5), (slice(None), rng.integers(0, 5, 21))),
        ((4, 5), (np.zeros(0, int),)),
    ):
        want, values = _random(rng, shape, dtype), _random(rng, np.zeros(shape)[at].shape, dtype)
        if name == "logical_or":
            want, values = want.astype(bool), values.astype(bool)
        got = xp.asarray(want)
        places = tuple(xp.asarray(k) if isinstance(k, np.ndarray) else k for k in at)
        with np.errstate(all="ignore"):
            getattr(np, name).at(want, at, values)
        standin.reset()
        apply_at(xp, name, got, places, xp.asarray(values))
        assert not standin.WAITS
        np.testing.assert_array_equal(xp.asnumpy(got), want)


def test_a_number_is_applied_at_each_index() -> None:
    xp = standin.CUPY
    for dtype in ("int64", "int16", "float32"):
        out = xp.zeros(3, dtype)
        apply_at(xp, "add", out, (xp.asarray([0, 2, 2, 2]),), 1)
        assert xp.asnumpy(out).tolist() == [1, 0, 3]


def test_what_does_not_lie_in_a_row_is_written_too() -> None:
    xp = standin.CUPY
    for dtype in ("int64", "int16"):
        whole = xp.zeros((3, 4), dtype)
        apply_at(xp, "add", whole.T, (xp.asarray([1, 1, 3]),), xp.ones((3, 3), dtype))
        assert xp.asnumpy(whole).tolist() == [[0, 2, 0, 1]] * 3


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", ["maximum", "minimum", "logaddexp"])
def test_running_results_are_numpys(name: str, axis: int) -> None:
    rng, xp = np.random.default_rng(3), standin.CUPY
    for shape in ((1, 1), (5, 13), (0, 3), (64, 2)):
        a = rng.normal(size=shape)
        a[rng.random(shape) < 0.05] = np.nan
        standin.reset()
        got = accumulate(xp, name, xp.asarray(a), axis)
        assert not standin.WAITS
        with np.errstate(invalid="ignore"):
            want = getattr(np, name).accumulate(a, axis=axis)
        np.testing.assert_allclose(xp.asnumpy(got), want, rtol=1e-12, atol=1e-15)
