"""Kernels on images: every split of the work gives the numbers of the plain definition, and of one thread."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gradd_engine.kernels import threads
from gradd_engine.kernels.images_conv import How, convolve, convolve_transposed, convolve_weight
from gradd_engine.kernels.images_pool import add_at, max_windows, pick, spread_windows, sum_windows
from gradd_engine.ops.nn.convcheck import out_size
from gradd_engine.schema.registry import REGISTRY

RNG = np.random.default_rng(0)
#: what is not NumPy itself, as CuPy is not
ELSEWHERE: Any = SimpleNamespace(**vars(np))

#: images, channels in and out, size, kernel, stride, padding, dilation, groups
CASES = {
    "columns": (3, 2, 3, (9, 8), (3, 2), (1, 1), (0, 0), (1, 1), 1),
    "everything": (2, 4, 6, (9, 8), (3, 2), (2, 3), (1, 2), (2, 1), 2),
    "images side by side": (300, 3, 4, (3, 4), (2, 2), (1, 1), (1, 1), (1, 1), 1),
    "side by side, channels last": (300, 18, 4, (3, 4), (2, 2), (2, 1), (1, 1), (1, 1), 2),
    "several images a block": (40, 2, 3, (20, 20), (3, 3), (1, 1), (0, 0), (1, 1), 1),
    "rows of an image": (2, 16, 8, (97, 64), (3, 3), (1, 1), (1, 1), (1, 1), 1),
    "rows, stride and dilation": (1, 16, 8, (200, 130), (3, 3), (2, 2), (2, 1), (3, 1), 2),
    "products of one row of cells": (2, 40, 8, (30, 40), (3, 2), (1, 1), (1, 0), (2, 1), 1),
    "flat planes": (2, 3, 40, (20, 40), (3, 3), (1, 1), (1, 1), (1, 1), 1),
    "one element": (2, 40, 8, (20, 20), (1, 1), (1, 1), (0, 0), (1, 1), 2),
    "every other element": (2, 4, 8, (7, 7), (1, 1), (2, 2), (0, 0), (1, 1), 1),
    "a group a channel": (2, 8, 16, (9, 9), (3, 3), (1, 1), (1, 1), (1, 1), 8),
    "a channel of its own": (2, 8, 8, (9, 40), (3, 3), (1, 1), (1, 1), (1, 1), 8),
    "a channel of its own, everything": (3, 3, 3, (17, 9), (5, 4), (2, 3), (2, 3), (1, 2), 3),
    "a channel of its own, padding beyond the window": (2, 2, 2, (4, 5), (2, 2), (1, 1), (3, 3), (1, 1), 2),
    "a channel of its own, dilated": (2, 4, 4, (12, 11), (3, 7), (1, 1), (2, 0), (3, 1), 4),
    "a line": (3, 4, 5, (600,), (5,), (2,), (2,), (2,), 1),
    "a volume": (2, 4, 6, (5, 6, 7), (2, 3, 2), (1, 2, 1), (1, 0, 1), (1, 1, 2), 2),
    "a flat volume": (3, 2, 2, (8, 20, 40), (3, 3, 2), (1, 1, 1), (0, 0, 0), (1, 1, 1), 1),
    "no image": (0, 4, 6, (5, 6), (2, 3), (1, 1), (1, 1), (1, 1), 2),
    "no channel": (2, 0, 6, (5, 6), (2, 3), (1, 1), (1, 1), (1, 1), 2),
}
CASE = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@pytest.fixture(params=[1, 3])
def count(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """So many threads, whatever the size of the work."""
    before = threads.threads()
    monkeypatch.setattr(threads, "LOAD", 1)
    threads.set_threads(request.param)
    yield request.param
    threads.set_threads(before)


def arrays(case: Any, dtype: str = "float64") -> tuple[Any, Any, Any, How]:
    n, c, o, size, kernel, stride, padding, dilation, groups = case
    how = How(kernel, stride, padding, dilation)
    shapes = (n, c, *size), (o, c // groups, *kernel), (n, o, *out_size(size, *how))
    x, w, g = (RNG.standard_normal(s).astype(dtype) for s in shapes)
    return x, w, g, how


def plain(x: Any, w: Any, how: How, groups: int) -> Any:
    """The definition: a sum over the cells of the windows."""
    size = out_size(x.shape[2:], *how)
    padded = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in how.padding)])
    out = np.zeros((x.shape[0], w.shape[0], *size), x.dtype)
    inner, each = w.shape[1], w.shape[0] // groups
    for at in product(*map(range, how.kernel)):
        cells = tuple(
            slice(a * d, a * d + (m - 1) * s + 1, s)
            for a, d, m, s in zip(at, how.dilation, size, how.stride, strict=True)
        )
        seen = padded[(slice(None), slice(None), *cells)]
        for group in range(groups):
            ins, outs = (slice(group * m, (group + 1) * m) for m in (inner, each))
            out[:, outs] += np.einsum("nc...,oc->no...", seen[:, ins], w[(outs, slice(None), *at)])
    return out


@CASE
def test_a_convolution_is_its_definition(case: Any, count: int) -> None:
    x, w, g, how = arrays(case)
    bias = RNG.standard_normal(w.shape[0])
    found = convolve(np, x, w, bias, how, g.shape[2:], case[-1])
    want = plain(x, w, how, case[-1]) + bias.reshape(1, -1, *(1 for _ in how.kernel))
    np.testing.assert_allclose(found, want, rtol=1e-10, atol=1e-10)


@CASE
def test_its_gradients_are_transposes(case: Any, count: int) -> None:
    """<conv(x, w), g> is <x, transposed(g, w)> and <w, weight(g, x)>, for any x and w."""
    x, w, g, how = arrays(case)
    groups, size = case[-1], x.shape[2:]
    for_input = convolve_transposed(np, g, w, None, how, size, groups)
    for_weight = convolve_weight(np, g, x, how, groups)
    assert for_input.shape == x.shape
    assert for_weight.shape == w.shape
    want = (plain(x, w, how, groups) * g).sum()
    np.testing.assert_allclose((x * for_input).sum(), want, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose((w * for_weight).sum(), want, rtol=1e-9, atol=1e-9)
    bias = RNG.standard_normal(x.shape[1])
    shifted = for_input + bias.reshape(1, -1, *(1 for _ in size))
    np.testing.assert_array_equal(convolve_transposed(np, g, w, bias, how, size, groups), shifted)


@CASE
def test_threads_change_no_bit(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x, w, g, how = arrays(case, "float32")
    groups, size = case[-1], x.shape[2:]
    monkeypatch.setattr(threads, "LOAD", 1)
    before, found = threads.threads(), []
    for many in (1, 2, 5):
        threads.set_threads(many)
        found.append(
            (
                convolve(np, x, w, None, how, g.shape[2:], groups),
                convolve_transposed(np, g, w, None, how, size, groups),
                convolve_weight(np, g, x, how, groups),
            )
        )
    threads.set_threads(before)
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            assert a.tobytes() == b.tobytes()


@CASE
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_compiled_convolutions_are_the_plain_ones(case: Any, dtype: str, count: int) -> None:
    pytest.importorskip("numba")
    from gradd_engine.kernels.jit_conv import KERNELS

    x, w, g, how = arrays(case, dtype)
    bias = RNG.standard_normal(w.shape[0]).astype(dtype)
    rest = {**how._asdict(), "groups": case[-1]}
    kernel = rest.pop("kernel")
    close = {"rtol": 1e-4, "atol": 1e-4} if dtype != "float64" else {"rtol": 1e-10, "atol": 1e-10}
    for name, given, attrs in (
        ("convolution", (x, w, bias), {}),
        ("convolution_transpose", (g, w, None), {"size": case[3]}),
        ("convolution_weight", (g, x), {"kernel": kernel}),
    ):
        op = REGISTRY[name]
        found, want = (f(np, *given, **attrs, **rest) for f in (KERNELS[name](op.impl), op.impl))
        assert (found.shape, found.dtype) == (want.shape, want.dtype)
        if dtype == "complex64":
            np.testing.assert_array_equal(found, want)
        else:
            # sums of terms that are larger than they are
            scale = max(1.0, float(np.abs(want).max(initial=0.0)) / 10)
            np.testing.assert_allclose(found, want, rtol=close["rtol"], atol=close["atol"] * scale)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
@CASE
def test_a_bad_number_reaches_no_more_than_in_the_plain_kernels(case: Any, bad: float) -> None:
    pytest.importorskip("numba")
    from gradd_engine.kernels.jit_conv import KERNELS

    x, w, g, how = arrays(case)
    rest = {**how._asdict(), "groups": case[-1]}
    kernel = rest.pop("kernel")
    for a in (x, g):
        a.reshape(-1)[: 1 if a.size else 0] = bad
    for name, given, attrs in (
        ("convolution", (x, w, None), {}),
        ("convolution_transpose", (g, w, None), {"size": case[3]}),
        ("convolution_weight", (np.ones_like(g), x), {"kernel": kernel}),
        ("convolution_weight", (g, np.ones_like(x)), {"kernel": kernel}),
    ):
        op = REGISTRY[name]
        with np.errstate(all="ignore"):
            found, want = (f(np, *given, **attrs, **rest) for f in (KERNELS[name](op.impl), op.impl))
        # They may leave out what plain ones multiply by the padding's zeros.
        assert not (np.isfinite(want) & ~np.isfinite(found)).any(), name


@CASE
def test_arrays_of_another_namespace_are_worked_on_as_a_whole(case: Any, count: int) -> None:
    x, w, g, how = arrays(case)
    groups, size = case[-1], x.shape[2:]
    for f, *args in (
        (convolve, x, w, None, how, g.shape[2:], groups),
        (convolve_transposed, g, w, None, how, size, groups),
        (convolve_weight, g, x, how, groups),
    ):
        np.testing.assert_allclose(f(ELSEWHERE, *args), f(np, *args), rtol=1e-10, atol=1e-10)


def test_channels_last_and_complex_arrays(count: int) -> None:
    x, w, g, how = arrays(CASES["everything"])
    x, w = x + 1j * x[::-1], w - 2j * w
    last = np.ascontiguousarray(np.moveaxis(x, 1, -1))
    found = convolve(np, np.moveaxis(last, -1, 1), w, None, how, g.shape[2:], 2)
    np.testing.assert_allclose(found, plain(x, w, how, 2), rtol=1e-10, atol=1e-10)


# -- pooling ---------------------------------------------------------------------------------------

#: planes, size, kernel, stride, padding, dilation
POOLS = {
    "quarters": (70, (64, 64), (2, 2), (2, 2), (0, 0), (1, 1)),
    "overlapping": (3, (9, 8), (3, 3), (2, 2), (1, 1), (1, 1)),
    "dilated": (3, (9, 10), (3, 2), (1, 2), (2, 1), (2, 3)),
    "rows": (3, (1, 9), (1, 3), (1, 2), (0, 1), (1, 1)),
    "columns": (3, (9, 1), (3, 1), (2, 1), (1, 0), (1, 1)),
    "large": (2, (20, 20), (17, 18), (1, 1), (0, 0), (1, 1)),
    "no plane": (0, (4, 4), (2, 2), (2, 2), (0, 0), (1, 1)),
}
POOL = pytest.mark.parametrize("case", POOLS.values(), ids=POOLS)


def loop(x: Any, places: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> tuple[Any, Any]:
    """PyTorch's loop over the cells of each window."""
    values = np.empty((x.shape[0], *places), x.dtype)
    index = np.empty(values.shape, np.int64)
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    for n, i, j in np.ndindex(*values.shape):
        ys, xs = (
            [y for y in (m * s - p + a * d for a in range(k)) if 0 <= y < size]
            for m, s, p, k, d, size in zip(
                (i, j), stride, padding, kernel, dilation, x.shape[1:], strict=True
            )
        )
        best, at = lowest, (ys[0], xs[0])
        for y, z in product(ys, xs):
            if x[n, y, z] > best or x[n, y, z] != x[n, y, z]:
                best, at = x[n, y, z], (y, z)
        values[n, i, j], index[n, i, j] = best, at[0] * x.shape[2] + at[1]
    return values, index


@POOL
@pytest.mark.parametrize("kind", ["normal", "ties", "nans", "lowest", "integers"])
def test_maxima_are_those_of_pytorchs_loop(case: Any, kind: str, count: int) -> None:
    n, size, *how = case
    shape = (min(n, 5) if kind != "normal" else n, *size)
    x: Any = RNG.standard_normal(shape).astype(np.float32)
    if kind == "ties":
        x = RNG.integers(0, 2, shape).astype(np.float64)
    elif kind == "nans":
        x[RNG.random(shape) < 0.4] = np.nan
    elif kind == "lowest":
        x[RNG.random(shape) < 0.9] = -np.inf
    elif kind == "integers":
        x = RNG.integers(-3, 3, shape)
    places = out_size(size, how[0], how[1], how[2], how[3])
    values, index = max_windows(np, x, places, *how)
    want = loop(x, places, *how)
    for a, b in zip(max_windows(ELSEWHERE, x, places, *how), want, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(values, want[0])
    np.testing.assert_array_equal(index, want[1])


@POOL
def test_picking_and_adding_are_transposes(case: Any, count: int) -> None:
    n, size, *how = case
    x = RNG.standard_normal((n, *size))
    places = out_size(size, how[0], how[1], how[2], how[3])
    values, index = max_windows(np, x, places, *how)
    g = RNG.standard_normal(values.shape)
    np.testing.assert_array_equal(pick(np, x, index), values)
    np.testing.assert_allclose((add_at(np, g, index, size) * x).sum(), (g * values).sum(), rtol=1e-10)


@POOL
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_compiled_adding_is_the_plain_one(case: Any, dtype: str, count: int) -> None:
    pytest.importorskip("numba")
    from gradd_engine.kernels.jit_images import KERNELS

    n, size, *how = case
    _, index = max_windows(np, RNG.standard_normal((n, *size)), out_size(size, *how), *how)
    g = RNG.integers(-9, 9, index.shape).astype(dtype)[::-1]
    op = REGISTRY["max_pool2d_backward"]
    found, want = (f(np, g, index[::-1], size=size) for f in (KERNELS[op.name](op.impl), op.impl))
    np.testing.assert_array_equal(found, want)


@POOL
def test_sums_of_windows_and_their_transpose(case: Any, count: int) -> None:
    n, size, kernel, stride, padding, _ = case
    how = How(kernel, stride, padding, (1, 1))
    places = out_size(size, *how)
    x, g = RNG.standard_normal((n, *size)), RNG.standard_normal((n, *places))
    want = plain(x[:, None], np.ones((1, 1, *kernel)), how, 1)[:, 0]
    np.testing.assert_allclose(
        sum_windows(np, x, places, kernel, stride, padding), want, rtol=1e-10, atol=1e-10
    )
    spread = spread_windows(np, g, size, kernel, stride, padding)
    np.testing.assert_allclose((spread * x).sum(), (g * want).sum(), rtol=1e-9, atol=1e-9)


# -- threads ---------------------------------------------------------------------------------------


def test_each_part_is_done_once(count: int) -> None:
    done: list[int] = []
    threads.share(np, 100, 100, done.extend)
    assert sorted(done) == list(range(100))


def test_what_a_part_raises_is_raised(count: int) -> None:
    def work(numbers: Iterator[int]) -> None:
        for number in numbers:
            if number == 7:
                raise MemoryError("no room")

    with pytest.raises(MemoryError, match="no room"):
        threads.share(np, 100, 100, work)


def test_warnings_are_off_where_they_are_off_here(count: int) -> None:
    def work(numbers: Iterator[int]) -> None:
        for _ in numbers:
            np.zeros(1) / np.zeros(1)

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        threads.share(np, 100, 100, work)


def test_blas_has_its_threads_back(count: int) -> None:
    before = threads._blas.count()

    def work(numbers: Iterator[int]) -> None:
        for _ in numbers:
            assert threads._blas.count() == 1

    threads.share(np, 10, 10, work)
    assert threads._blas.count() == before


@pytest.mark.skipif(threads._blas._get is None, reason="NumPy has another BLAS")
def test_an_engine_process_has_as_many_as_its_blas() -> None:
    code = "from gradd_engine.kernels import threads; print(threads.threads())"
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    found = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert int(found.stdout) == 2


def test_no_thread_is_too_few() -> None:
    with pytest.raises(ValueError, match="at least"):
        threads.set_threads(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_has_threads_of_its_own(count: int) -> None:
    done: list[int] = []
    threads.share(np, 10, 10, done.extend)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        done.clear()
        threads.share(np, 10, 10, done.extend)
        os._exit(0 if sorted(done) == list(range(10)) else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_places_are_read_alike_by_compiled_and_plain_kernels(real: Any) -> None:
    pytest.importorskip("numba")
    from gradd_engine.kernels.jit_places import KERNELS

    rng = np.random.default_rng(0)
    x, g = (rng.normal(size=(2, 3, n)).astype(real) for n in (7, 5))
    at, weight = rng.integers(7, size=(2, 4, 5)), rng.normal(size=(2, 4, 5)).astype(real)
    turned = np.asfortranarray(x)
    calls: dict[str, tuple[Any, ...]] = {
        "read_places": (turned, at, weight),
        "add_places": (g, at, weight, 7),
        "weigh_places": (g, turned, at),
    }
    for name, given in calls.items():
        plain = REGISTRY[name].impl
        assert plain is not None
        np.testing.assert_allclose(KERNELS[name](plain)(np, *given), plain(np, *given), rtol=1e-5, atol=1e-6)
        outside = [np.full_like(a, 7) if a is at else a for a in given]
        for kernel in (plain, KERNELS[name](plain)):
            with pytest.raises(IndexError, match="index 7 is out of bounds for images of 7 elements"):
                kernel(np, *outside)


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("padding", [None, 2])
@pytest.mark.parametrize("kind", [np.int64, np.int32])
def test_rows_are_added_alike_by_compiled_and_plain_kernels(real: Any, padding: Any, kind: Any) -> None:
    pytest.importorskip("numba")
    from gradd_engine.kernels.jit_places import KERNELS

    rng = np.random.default_rng(1)
    g, index = rng.normal(size=(4, 3, 6)).astype(real), rng.integers(5, size=(4, 3)).astype(kind)
    plain = REGISTRY["embedding_backward"].impl
    assert plain is not None
    for kernel in (KERNELS["embedding_backward"](plain), plain):
        found = kernel(np, np.asfortranarray(g), index, 5, padding, False)
        want = np.zeros((5, 6), real)
        for row, at in zip(g.reshape(-1, 6), index.reshape(-1), strict=True):
            want[at] += row if at != padding else 0
        np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)
        with pytest.raises(IndexError, match="index out of range in self"):
            kernel(np, g, index + 5, 5, padding, False)
