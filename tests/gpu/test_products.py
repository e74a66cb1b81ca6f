"""Products of matrices by cuBLAS: of every layout and dtype, rounded once, and captured in graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradd_engine.kernels.cuda import NATIVE, cublas
from ml_dtypes import bfloat16

from tests.cuda.cases import refuse
from tests.cuda.product_cases import DTYPES, LAYOUTS, SHAPES, laid, whole_numbers
from tests.gpu.places import GpuPlace


def _wide(place: GpuPlace, a: Any) -> Any:
    return (place.xp.asnumpy(a) if isinstance(a, place.xp.ndarray) else a).astype(np.float64)


def _differs(place: GpuPlace, op: str, a: Any, b: Any, first: str, second: str) -> str | None:
    """What is wrong with a product of operands in these layouts; None if nothing."""
    got = NATIVE[op](refuse)(place.xp, laid(place.xp, a, first), laid(place.xp, b, second))
    want = _wide(place, a) @ _wide(place, b)
    if got.dtype != a.dtype or got.shape != want.shape:
        return f"{got.dtype} {got.shape} instead of {a.dtype} {want.shape}"
    return None if np.array_equal(_wide(place, got), want) else "other values"


def test_the_library_is_there(place: GpuPlace) -> None:
    place.backend()
    assert cublas.version(place.xp) != "none"


@pytest.mark.parametrize("dtype", DTYPES)
def test_matrices_of_every_layout(place: GpuPlace, dtype: Any) -> None:
    cases = [(shape, x, y) for shape in (*SHAPES, (130, 72, 264)) for x in LAYOUTS for y in LAYOUTS]

    def fault(case: Any) -> str | None:
        (m, k, n), x, y = case
        rng = np.random.default_rng(5)
        a, b = whole_numbers(rng, (m, k), dtype), whole_numbers(rng, (k, n), dtype)
        return _differs(place, "mm", a, b, x, y)

    assert place.faults(cases, fault) == {}


@pytest.mark.parametrize("dtype", DTYPES)
def test_batches_of_every_layout(place: GpuPlace, dtype: Any) -> None:
    sizes = [(4, 3, 5, 2), (1, 3, 2, 4), (3, 1, 6, 1), (9, 40, 16, 24)]
    layouts = (*LAYOUTS, "between")

    def fault(case: Any) -> str | None:
        (count, m, k, n), x, y = case
        rng = np.random.default_rng(6)
        a, b = whole_numbers(rng, (count, m, k), dtype), whole_numbers(rng, (count, k, n), dtype)
        return _differs(place, "bmm", a, b, x, y)

    assert place.faults([(size, x, y) for size in sizes for x in layouts for y in layouts], fault) == {}


@pytest.mark.parametrize("dtype", [np.float16, bfloat16])
def test_sums_of_16_bits_are_rounded_once(place: GpuPlace, dtype: Any) -> None:
    step = 2.0 ** (12 if dtype is np.float16 else 9)
    given = [np.array(x, dtype) for x in ([[-step]], [[step, 1]], [[1], [1]])]
    got = NATIVE["addmm"](refuse)(place.xp, *map(place.xp.asarray, given), beta=1, alpha=1)
    assert _wide(place, got).tolist() == [[1.0]]
    ones = place.xp.asarray(np.ones((1, 5000), dtype))
    (found,) = _wide(place, NATIVE["mm"](refuse)(place.xp, ones, ones.T))[0]
    assert found == np.float64(np.array(5000, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_are_captured(place: GpuPlace, dtype: Any) -> None:
    xp, made = place.xp, place.backend()
    a, b = (xp.asarray(np.ones(shape, dtype)) for shape in ((40, 24), (24, 16)))
    out: list[Any] = []

    def work() -> None:
        out[:] = [NATIVE["mm"](refuse)(xp, a, b), NATIVE["bmm"](refuse)(xp, a[None], b[None])]

    graph = made.capture(work)
    for factor in (1, 2):
        a[...] = factor
        graph.launch()
        for found in out:
            assert np.unique(_wide(place, found)).tolist() == [24.0 * factor]
