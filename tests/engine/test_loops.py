"""NumPy's inner loops, called without NumPy: where they are, and that a list of them computes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from gradd_engine.backends.array import NUMPY
from gradd_engine.kernels import KernelTable

LOOPS: Any = NUMPY.kernels.loops
pytestmark = pytest.mark.skipif(LOOPS is None, reason="nothing is compiled here")
NAMES = sorted(LOOPS._OF_ALL | LOOPS._OF_FLOATS) if LOOPS else []


def call(ufunc: Any, kinds: str, inputs: list[Any], out: Any) -> None:
    """One row over one-dimensional arrays."""
    found = LOOPS.inner(ufunc, kinds)
    assert found is not None
    arrays = [*inputs, out]
    unused = [0] * (3 - len(arrays))
    strides = [a.strides[0] for a in arrays]
    addresses = [a.ctypes.data for a in arrays]
    row = np.array([*found, out.size, *strides, *unused, *addresses, *unused], np.int64)
    assert row.size == LOOPS.ROW
    LOOPS.sweep(row.ctypes.data, 1)


@pytest.mark.parametrize("name", NAMES)
def test_a_loop_gives_what_its_function_gives(name: str) -> None:
    ufunc = getattr(np, name)
    noise = np.random.default_rng(1)
    found = 0
    for kinds in ufunc.types:
        if LOOPS.inner(ufunc, kinds) is None:
            continue
        found += 1
        given, gives = kinds.split("->")
        for size in (1, 4, 7, 64, 515):
            inputs = [(noise.standard_normal(size) * 3).astype(c) for c in given]
            for a in inputs:
                if a.dtype.kind in "fc" and size > 4:
                    a[:5] = [np.nan, np.inf, -np.inf, -0.0, 1e-40]
            with np.errstate(all="ignore"):
                expected = ufunc(*inputs)
            if expected.dtype != np.dtype(gives):
                continue  # NumPy computes these in another dtype
            out = np.empty(size, gives)
            call(ufunc, kinds, inputs, out)
            assert out.tobytes() == expected.tobytes(), (kinds, size)
    assert found


def test_what_might_raise_has_no_loop_here() -> None:
    for name, kinds in (
        ("power", "ll->l"), ("floor_divide", "ll->l"), ("floor_divide", "ff->f"), ("remainder", "ll->l"),
        ("reciprocal", "l->l"), ("add", "OO->O"), ("add", "gg->g"), ("add", "Mm->M"), ("divmod", "ff->ff"),
        ("matmul", "ff->f"), ("add", "fd->d"), ("ldexp", "fi->f"),
    ):  # fmt: skip
        assert LOOPS.inner(getattr(np, name), kinds) is None, (name, kinds)
    assert LOOPS.inner(np.frompyfunc(lambda a: a, 1, 1), "O->O") is None


def test_no_loop_warns_and_none_makes_another_call_warn() -> None:
    a = np.array([np.inf, 0.0, -1.0, 1e30], np.float32)
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("error")
        call(np.log, "f->f", [a], np.empty_like(a))
        call(np.divide, "ff->f", [a, np.zeros_like(a)], np.empty_like(a))
        call(np.multiply, "ff->f", [a, a], np.empty_like(a))
        ones = np.ones(4, np.float32)
        assert (ones + ones).sum() == 8
        assert (ones @ ones, ones.astype(np.float64).mean(), np.float32(2) * np.float32(3)) == (4, 1, 6)
        assert np.linalg.inv(np.eye(2, dtype=np.float32)).sum() == 2


def test_without_compiled_kernels_there_are_no_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADD_KERNELS", "numpy")
    assert KernelTable(np).loops is None


def test_another_layout_of_functions_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert LOOPS.works()
    for name in ("_COUNTS", "_NTYPES", "_SIZE"):
        with monkeypatch.context() as patch:
            patch.setattr(LOOPS, name, getattr(LOOPS, name) + (1 << 20 if name == "_SIZE" else 4))
            assert not LOOPS.works(), name
    monkeypatch.setattr(LOOPS, "inner", lambda ufunc, kinds: None)
    assert not LOOPS.works()
