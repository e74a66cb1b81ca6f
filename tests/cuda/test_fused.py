"""Fused kernels as host code: expressions beside NumPy's ufuncs, parts of many shapes beside NumPy."""

from __future__ import annotations

import itertools
import os
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from gradd_engine.kernels.cuda import FusedArray, FusedKernel, FusedLine, FusedPart, fused, literal

from tests import standin
from tests.cuda import fused_cases as cases
from tests.cuda import host
from tests.cuda.cases import backwards

#: random geometries; `make device` runs more
SEEDS = int(os.environ.get("GRADD_FUSED", "16"))

pytestmark = pytest.mark.skipif(host.MISSING is not None, reason=str(host.MISSING))


def _run(kernel: FusedKernel, arrays: list[Any]) -> list[Any]:
    """Launch it on the stand-in, over the arrays' own memory."""
    kernel(standin.CUPY, [standin.CUPY.ndarray._of(a) for a in arrays])
    return arrays


@pytest.mark.parametrize("kind", list("fdqihbB?"))
@pytest.mark.parametrize("turn", [0, 1])
def test_expressions_are_numpys_ufuncs(kind: str, turn: int) -> None:
    assert cases.expression_faults(kind, turn, _run) == []


def test_casts_are_numpys() -> None:
    assert cases.cast_faults(_run) == []


@pytest.mark.parametrize("seed", range(SEEDS))
def test_parts_go_over_their_own_shapes(seed: int) -> None:
    for order in (nullcontext, backwards):
        with order():
            assert cases.shaped(seed).faults(_run) == []


@pytest.mark.parametrize(("many", "blocks"), [(31, 1), (129, 2), (128 * 4096 + 1, 4096)])
def test_threads_stride_over_what_blocks_do_not_cover(many: int, blocks: int) -> None:
    line = FusedLine("(float)(x0 + 1)", "f")
    vector = (FusedArray(0, (1,)),)
    kernel = FusedKernel("ff", [FusedPart((many,), vector, (line,), (("v0", FusedArray(1, (1,))),))])
    assert kernel._blocks == blocks
    a = np.arange(many, dtype=np.float32)
    np.testing.assert_array_equal(_run(kernel, [a, np.zeros_like(a)])[1], a + 1)


def test_a_part_that_reaches_out_of_an_array_is_told() -> None:
    line = FusedLine("x0", "f")
    part = FusedPart((6,), (FusedArray(0, (1,)),), (line,), (("v0", FusedArray(1, (1,))),))
    with pytest.raises(host.ShimError, match=r"an array \[5\] of 5"):
        _run(FusedKernel("ff", [part]), [np.zeros(5, np.float32), np.zeros(6, np.float32)])


@pytest.mark.parametrize("kind", list("fdqibB?"))
def test_literals_are_the_numbers(kind: str) -> None:
    made = np.dtype(kind).type
    numbers = [made(v) for v in cases.values(kind, 0)[:13]]
    if kind == "q":
        numbers += [made(-(1 << 63)), made((1 << 63) - 1)]
    lines = tuple(FusedLine(literal(x), kind) for x in numbers)
    stores = tuple((f"v{n}", FusedArray(n, ())) for n in range(len(lines)))
    found = _run(
        FusedKernel(kind * len(lines), [FusedPart((), (), lines, stores)]),
        [np.zeros((), made) for _ in lines],
    )
    for got, want in itertools.zip_longest(found, numbers):
        assert got.tobytes() == want.tobytes() or (np.isnan(got) and np.isnan(want))


def test_a_wrong_expression_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = fused.text_of
    fused.compiled.cache_clear()
    monkeypatch.setattr(fused, "text_of", lambda *f: right(*f) + "#define expf(x) (expf(x) * 1.0001f)\n")
    with pytest.raises(AssertionError, match="exp"):
        test_expressions_are_numpys_ufuncs("f", 0)
    fused.compiled.cache_clear()
