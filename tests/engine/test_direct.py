"""Convolutions without columns, and other kernels of images, against the plain ones over random geometries.

GRADD_GEOMETRIES=2000 tries more of them than the share that always runs.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import pytest
from gradd_engine.kernels import KernelTable, threads
from gradd_engine.kernels.images_conv import How
from gradd_engine.schema.registry import REGISTRY

pytest.importorskip("numba")

COUNT = int(os.environ.get("GRADD_GEOMETRIES", "60"))
SEEDS = [range(at, COUNT, 4) for at in range(4)]


class Geometry(NamedTuple):
    """A convolution's arrays, and how it goes over them."""

    x: Any
    weight: Any
    bias: Any
    g: Any
    how: How
    groups: int

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes that all three ops have."""
        found = {key: list(value) for key, value in self.how._asdict().items() if key != "kernel"}
        return {**found, "groups": self.groups}


def laid(rng: np.random.Generator, shape: Any, real: Any) -> Any:
    """Numbers, row-major or not."""
    a = rng.standard_normal(shape).astype(real)
    kind = rng.integers(4)
    if kind == 1:
        return np.asfortranarray(a)
    if kind == 2:
        return np.moveaxis(np.ascontiguousarray(np.moveaxis(a, 1, -1)), -1, 1)
    return np.repeat(a, 2, axis=-1)[..., ::2] if kind == 3 else a


def geometry(seed: int, sides: int = 24) -> Geometry:
    rng = np.random.default_rng(seed)
    real = rng.choice([np.float32, np.float64])
    dims, groups = int(rng.integers(1, 3)), int(rng.choice([1, 1, 1, 2, 3]))
    n, inner, each = (int(rng.integers(low, high)) for low, high in ((0, 6), (1, 9), (1, 12)))
    kernel, stride, dilation = (rng.integers(1, high, dims).tolist() for high in (5, 4, 3))
    padding = [int(rng.integers(0, d * k + 1)) for k, d in zip(kernel, dilation, strict=True)]
    size = [
        int(rng.integers(max(1, d * (k - 1) + 1 - 2 * p), d * (k - 1) + 1 + sides))
        for k, p, d in zip(kernel, padding, dilation, strict=True)
    ]
    if rng.integers(8) == 0:
        size[-1] += 1500
    places = [
        (s + 2 * p - d * (k - 1) - 1) // t + 1
        for s, k, t, p, d in zip(size, kernel, stride, padding, dilation, strict=True)
    ]
    shapes = (n, inner * groups, *size), (each * groups, inner, *kernel), (n, each * groups, *places)
    x, weight, g = (laid(rng, shape, real) for shape in shapes)
    bias = rng.standard_normal(each * groups).astype(real) if rng.integers(2) else None
    return Geometry(x, weight, bias, g, How(kernel, stride, padding, dilation), groups)


def asked(case: Geometry) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    return [
        ("convolution", (case.x, case.weight, case.bias), case.attrs),
        ("convolution_transpose", (case.g, case.weight, None), {**case.attrs, "size": case.x.shape[2:]}),
        ("convolution_weight", (case.g, case.x), {**case.attrs, "kernel": case.how.kernel}),
    ]


def pair(name: str, args: Any, attrs: Any) -> tuple[Any, Any]:
    from gradd_engine.kernels.library import NATIVE

    op = REGISTRY[name]
    with np.errstate(all="ignore"):
        return NATIVE[name](op.impl)(np, *args, **attrs), op.impl(np, *args, **attrs)


def close(found: Any, want: Any, name: str) -> None:
    assert (found.shape, found.dtype) == (want.shape, want.dtype)
    tolerance = 1e-4 if want.dtype == np.float32 else 1e-11
    np.testing.assert_allclose(found, want, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("seeds", SEEDS, ids=lambda seeds: f"from {seeds.start}")
def test_convolutions_are_the_plain_ones(
    seeds: range, everywhere: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the thresholds, and wherever a direct one is possible."""
    from gradd_engine.kernels import jit_direct

    if everywhere:
        planned = jit_direct.planned
        monkeypatch.setattr(
            jit_direct, "planned",
            lambda *args: (made := planned(*args)) and made._replace(forward=True, weight=True),
        )  # fmt: skip
        # small blocks too
        monkeypatch.setattr(jit_direct, "CACHED", 1 << 9)
        monkeypatch.setattr(jit_direct, "_LEAST", 32)
        jit_direct._planned.cache_clear()
    try:
        for seed in seeds:
            for name, args, attrs in asked(geometry(seed)):
                close(*pair(name, args, attrs), f"{name} of seed {seed}")
    finally:
        jit_direct._planned.cache_clear()


@pytest.mark.parametrize("seeds", SEEDS, ids=lambda seeds: f"from {seeds.start}")
def test_bad_numbers_reach_no_more_than_in_the_plain_ones(seeds: range) -> None:
    for seed in seeds:
        case, rng = geometry(seed), np.random.default_rng(seed)
        for name, args, attrs in asked(case):
            args = tuple(a if a is None else a.copy() for a in args)
            # A weight's would meet the padding's zeros where an input's gradient is a convolution.
            for a in args[: 2 if name == "convolution" else 1]:
                if a.size:
                    at = np.unravel_index(rng.integers(a.size), a.shape)
                    a[at] = rng.choice([np.nan, np.inf, -np.inf])
            found, want = pair(name, args, attrs)
            # They may leave out what plain ones multiply by the padding's zeros.
            assert not (np.isfinite(want) & ~np.isfinite(found)).any(), f"{name} of seed {seed}"
            if name == "convolution" and not any(case.how.padding):
                np.testing.assert_array_equal(np.isfinite(found), np.isfinite(want))


@pytest.mark.parametrize("seeds", SEEDS, ids=lambda seeds: f"from {seeds.start}")
def test_threads_and_layouts_change_no_bit(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "LOAD", 1)
    before = threads.threads()
    try:
        for seed in list(seeds)[:6]:
            case = geometry(seed, 60)
            rows = case._replace(
                **{name: np.ascontiguousarray(getattr(case, name)) for name in ("x", "weight", "g")}
            )
            found = []
            for count, each in ((1, case), (2, rows), (5, rows)):
                threads.set_threads(count)
                found.append([pair(*one)[0].tobytes() for one in asked(each)])
            assert found[0] == found[1] == found[2], seed
    finally:
        threads.set_threads(before)


# -- averages --------------------------------------------------------------------------------------


@pytest.mark.parametrize("real", [np.float32, np.float64, np.float16, np.int64])
def test_averages_of_small_images(real: Any) -> None:
    rng = np.random.default_rng(0)
    for seed in range(COUNT):
        kernel = rng.integers(1, 5, 2).tolist()
        how: dict[str, Any] = {
            "kernel_size": kernel, "stride": rng.integers(1, 5, 2).tolist(),
            "padding": [int(rng.integers(0, k // 2 + 1)) for k in kernel],
            "ceil_mode": bool(rng.integers(2)), "count_include_pad": bool(rng.integers(2)),
            "divisor_override": [None, 3, -2][rng.integers(3)],
        }  # fmt: skip
        size = rng.integers(5, 14, 2).tolist()
        x = (laid(rng, (int(rng.integers(0, 3)), 3, *size), np.float64) * 9).astype(real)
        if x.size and x.dtype.kind == "f":
            x[0, 0, 2, 2] = rng.choice([np.nan, np.inf, 1.0])
        found, want = pair("avg_pool2d_windows", (x,), how)
        assert found.dtype == want.dtype
        np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-5, err_msg=str(seed))
        if x.dtype.kind == "f":
            found, want = pair("avg_pool2d_backward", (want,), {**how, "size": size})
            loose = 1e-2 if real == np.float16 else 1e-5
            np.testing.assert_allclose(found, want, rtol=loose, atol=loose, err_msg=str(seed))


def test_what_was_gathered_goes_back_to_zeros_without_a_copy() -> None:
    """The bits are those of zeros that are there, and -0.0 stays what it is."""
    table, rng = KernelTable(np), np.random.default_rng(0)
    index, source = rng.integers(0, 40, (30, 9)), rng.standard_normal((30, 9)).astype(np.float32)
    kernel = table[REGISTRY["scatter_add"]]
    for zero in (0.0, -0.0, 1.0):
        one = np.full((), zero, np.float32)
        found, want = (kernel(np, a, index, source, dim=1) for a in (np.broadcast_to(one, (30, 40)),
                                                                  np.full((30, 40), one)))  # fmt: skip
        assert found.tobytes() == want.tobytes()
        assert found.flags.writeable
