"""Compiled kernels that add, choose, sort and attend, against the plain ones: bad numbers, ties, threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradd_engine.kernels import KernelTable, threads
from gradd_engine.schema.registry import REGISTRY

from tests.engine.test_kernels import CLOSE, EDGES, FLOATS, both, check, edges, values

BAD = (np.nan, np.inf, -np.inf, -0.0, 1e-40)


def spoiled(a: Any, seed: int = 5) -> Any:
    """With a few bad numbers."""
    out, rng = a.copy(), np.random.default_rng(seed)
    flat = out.reshape(-1)
    flat[rng.integers(0, flat.size, 6)] = rng.choice(BAD, 6)
    return out


def alike(table: KernelTable, name: str, *args: Any, close: float = 2e-5, **attrs: Any) -> None:
    """As `check`, without other layouts, for inputs that are large or lists."""
    got, want = both(table, name, *args, **attrs)
    several = isinstance(want, (list, tuple))
    for g, w in zip(got if several else [got], want if several else [want], strict=True):
        assert (g.shape, g.dtype) == (w.shape, w.dtype)
        np.testing.assert_allclose(g, w, rtol=close, atol=close, equal_nan=True, err_msg=name)


# -- choosing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("real", FLOATS)
def test_where_and_its_kin_choose_what_the_plain_ones_do(table: KernelTable, real: Any) -> None:
    rng = np.random.default_rng(0)
    for shape in ((600,), (30, 40), (2, 3, 500)):
        x, y = spoiled(values(shape, real)), spoiled(values(shape, real, 1), 6)
        masks = [rng.random(shape) < 0.5, rng.random(shape[-1:]) < 0.5, rng.random((*shape[:-1], 1)) < 0.5]
        for mask in masks:
            for a, b in ((x, y), (x, real(3)), (real(-0.0), y), (x, np.asarray(real(np.nan)))):
                got, want = both(table, "where", mask, a, b)
                assert got.tobytes() == want.tobytes()
            got, want = both(table, "masked_fill", x, mask, real(-np.inf))
            assert got.tobytes() == want.tobytes()
    # what grows, another dtype and a number for each side are left to the plain kernel
    mask = rng.random((600, 2)) < 0.5
    for a, b in ((values((2,), real), values((600, 1), real)), (real(1), real(2)), (np.arange(2), real(2))):
        got, want = both(table, "where", mask, a, b)
        assert (got.dtype, got.tobytes()) == (want.dtype, want.tobytes())


@pytest.mark.parametrize("real", FLOATS)
def test_bounds_slopes_and_exponentials(table: KernelTable, real: Any) -> None:
    x = np.concatenate([values((700,), real), edges(real)])
    for low, high in ((-1.0, 1.0), (None, 0.5), (-0.5, None), (1.0, -1.0), (np.nan, 1.0), (-np.inf, np.inf)):
        ends = [None if end is None else real(end) for end in (low, high)]
        check(table, "clamp", x, *ends)
    check(table, "leaky_relu", x, negative_slope=0.2)
    for slope in (x[::-1].copy(), np.asarray(real(0.7))):
        check(table, "mse_loss_backward", slope, x, values(x.shape, real, 3))
    check(table, "exp", x)
    check(table, "exp", values((40, 50), real, scale=40.0), close=CLOSE[real] * 10)


# -- sums ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("real", FLOATS)
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_sums(table: KernelTable, name: str, real: Any) -> None:
    for shape in ((5000,), (70, 80), (4, 3, 900), (3, 200001), (2, 3, 50, 50), (300000,)):
        everything = list(range(len(shape)))
        for dim in ([], [-1], [0], everything[1:], everything[:-1], [0, *everything[2:]], [len(shape) // 2]):
            for keepdim in (False, True):
                how: dict[str, Any] = {"dim": dim, "keepdim": keepdim, "dtype": None}
                alike(table, name, values(shape, real), close=2e-3 if real is np.float32 else 1e-9, **how)
    for bad in BAD:
        x = values((70, 80), real)
        x[3, 5] = bad
        x[4] = -0.0
        check(table, name, x, close=1e-4, bits=False, dim=[-1], keepdim=False, dtype=None)


@pytest.mark.parametrize("real", FLOATS)
def test_norms_and_running_sums(table: KernelTable, real: Any) -> None:
    loose = 1e-3 if real is np.float32 else 1e-9
    for shape in ((5000,), (70, 80), (3, 20001), (300000,)):
        x = values(shape, real)
        for dim in (None, [-1]):
            alike(table, "vector_norm", x, ord=2, dim=dim, keepdim=False, dtype=None, close=loose)
    for shape in ((600,), (7, 130), (16, 40), (2, 9, 65)):
        x = spoiled(values(shape, real))
        check(table, "cumsum", x, close=1e-4, dim=-1, dtype=None)
        check(table, "cumsum_back", x, close=1e-4, dim=len(shape) - 1)
        if len(shape) > 1:
            got, want = both(table, "cumsum", x, dim=0, dtype=None)
            assert got.tobytes() == want.tobytes()


# -- at indices ------------------------------------------------------------------------------------


@pytest.mark.parametrize("real", FLOATS)
@pytest.mark.parametrize("whole", [np.int64, np.int32])
def test_gather_and_scatter(table: KernelTable, real: Any, whole: Any) -> None:
    rng = np.random.default_rng(0)
    for shape, dim, many in (
        ((7,), 0, 9),
        ((5, 6), 1, 4),
        ((5, 6), 0, 8),
        ((3, 4, 5), 1, 6),
        ((3, 4, 5), -1, 2),
    ):
        size = list(shape)
        size[dim] = many
        index = rng.integers(0, shape[dim], size).astype(whole)
        a, src = spoiled(values(shape, real)), spoiled(values(tuple(size), real, 1))
        check(table, "gather", a, index, dim=dim)
        for name in ("scatter", "scatter_add"):
            check(table, name, a, index, src, dim=dim)
        wide = np.concatenate([src, src], -1)
        check(table, "scatter", a, index, wide, dim=dim)
        for bad in (-1, shape[dim], 1 << 30):
            wrong = index.copy()
            wrong.reshape(-1)[-1] = bad
            for name, args in (
                ("gather", (a, wrong)),
                ("scatter", (a, wrong, src)),
                ("scatter_add", (a, wrong, src)),
            ):
                with pytest.raises(RuntimeError, match=f"index {bad} is out of bounds"):
                    table[REGISTRY[name]](np, *args, dim=dim)


@pytest.mark.parametrize("real", FLOATS)
def test_what_is_added_at_indices(table: KernelTable, real: Any) -> None:
    rng = np.random.default_rng(0)
    for shape, dim, many in (((7,), 0, 9), ((5, 6), 0, 40), ((5, 6), 1, 30), ((3, 4, 500), 1, 70)):
        size = list(shape)
        size[dim] = many
        index, a = rng.integers(0, shape[dim], many), spoiled(values(shape, real))
        source = spoiled(values(tuple(size), real, 1))
        for alpha in (1, -0.5):
            check(table, "index_add", a, index, source, dim=dim, alpha=alpha)
        with pytest.raises(RuntimeError, match="out of bounds"):
            table[REGISTRY["index_add"]](np, a, index - 1, source, dim=dim, alpha=1)
    rows, columns = rng.integers(-5, 5, (4, 3)), rng.integers(-6, 6, 3)
    mask = rng.random(5) < 0.5
    for indices, shape in (
        ([rows], (4, 3, 6, 2)), ([None, columns], (5, 3, 2)), ([rows, columns], (4, 3, 2)),
        ([None, None, columns % 2], (5, 6, 3)), ([rows, None, columns % 2], (4, 3, 6)), ([mask], ()),
    ):  # fmt: skip
        a = values((5, 6, 2), real)
        if indices[0] is not mask:
            g = spoiled(values(shape, real, 2))
            alike(table, "index_put_add", g, indices, [5, 6, 2])
            alike(table, "index_write", a, indices, g, True)
        for accumulate in (False, True):
            alike(table, "index_write", a, indices, values((), real, 3), accumulate)
    for name, args in (("index_put_add", (values((2, 6, 2), real), [np.array([0, 5])], [5, 6, 2])),):
        with pytest.raises(IndexError, match="index 5 is out of bounds for dimension 0 with size 5"):
            table[REGISTRY[name]](np, *args)


def test_no_result_depends_on_the_number_of_threads(table: KernelTable) -> None:
    rng = np.random.default_rng(0)
    x, mask = values((700, 1000), np.float32), rng.random((700, 1000)) < 0.5
    index, rows = rng.integers(0, 1000, (700, 1000)), rng.integers(0, 700, 700)
    q = values((1, 4, 200, 64), np.float32)
    asked: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("exp", (x,), {}), ("where", (mask, x, np.float32(0)), {}), ("gather", (x, index), {"dim": 1}),
        ("scatter_add", (x, index, x), {"dim": 1}), ("index_add", (x, rows, x), {"dim": 0, "alpha": 1}),
        ("sum", (x,), {"dim": None, "keepdim": False, "dtype": None}),
        ("cumsum", (x,), {"dim": 1, "dtype": None}),
        ("sort", (x,), {"dim": 1, "descending": True, "stable": None}),
        ("topk", (x, 5), {"dim": 1, "largest": True, "sorted": True}),
        ("attend_backward", (q, q, q, q, None), {"causal": True, "scale": 0.125}),
        ("gelu_backward", (x, x), {"approximate": "none"}),
    ]  # fmt: skip
    before = threads.threads()
    found = []
    try:
        for count in (1, 3):
            threads.set_threads(count)
            outs = [table[REGISTRY[name]](np, *args, **attrs) for name, args, attrs in asked]
            found.append(
                [
                    [np.asarray(o).tobytes() for o in (out if isinstance(out, tuple) else [out])]
                    for out in outs
                ]
            )
    finally:
        threads.set_threads(before)
    assert found[0] == found[1]


@pytest.mark.parametrize("real", FLOATS)
def test_transposed_copies_and_batches_of_products(table: KernelTable, real: Any) -> None:
    for shape in ((40, 33), (700, 900), (32, 5000)):
        a = spoiled(values(shape, real)).T
        got, want = both(table, "contiguous_copy", a, memory_format="contiguous_format")
        assert got.flags.c_contiguous
        assert got.tobytes() == want.tobytes()
    for many in (1, 2, 37):
        x, y = values((many, 60, 130), real), values((many, 90, 130), real, 1).swapaxes(1, 2)
        alike(table, "bmm", x, y, close=1e-4)


# -- order -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("real", FLOATS)
@pytest.mark.parametrize("falling", [False, True])
def test_sort_and_topk_keep_ties_in_order(table: KernelTable, falling: bool, real: Any) -> None:
    rng = np.random.default_rng(0)
    for shape, dim in (((900,), 0), ((30, 50), -1), ((30, 50), 0), ((3, 40, 7), 1), ((600, 1), 1)):
        x = rng.integers(-4, 5, shape).astype(real)
        x.reshape(-1)[:] += rng.choice(
            [0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf], x.size, p=[0.8, *[0.04] * 5]
        )
        x[x == 0] = rng.choice([0.0, -0.0], int((x == 0).sum()))
        for a in (x, values(shape, real)):
            for name, args, attrs in (
                ("sort", (), {"descending": falling, "stable": None}),
                ("topk", (min(7, shape[dim]),), {"largest": falling, "sorted": True}),
                ("topk", (min(45, shape[dim]),), {"largest": falling, "sorted": True}),
            ):
                (found, at), (want, order) = both(table, name, a, *args, dim=dim, **attrs)
                assert at.dtype == np.int64
                np.testing.assert_array_equal(at, order)
                # the very elements, nan and -0.0 too
                assert np.ascontiguousarray(found).tobytes() == np.ascontiguousarray(want).tobytes()


# -- norms of channels -----------------------------------------------------------------------------


@pytest.mark.parametrize("real", FLOATS)
def test_batch_and_group_norm(table: KernelTable, real: Any) -> None:
    for shape, groups in (
        ((2, 4, 5, 6), 2),
        ((3, 6, 40), 3),
        ((1, 4, 3, 3, 3), 1),
        ((5, 4), 2),
        ((2, 4, 2), 4),
    ):
        x, channels = values(shape, real) + real(3), shape[1]
        weight, bias = values((channels,), real, 1), values((channels,), real, 2)
        for w, b in ((weight, bias), (None, None), (weight, None)):
            alike(table, "native_group_norm", x, w, b, num_groups=groups, eps=1e-5, close=1e-4)
            kept = [[np.zeros(channels, real), np.ones(channels, real)] for _ in range(2)]
            results = [
                kernel(np, x, w, b, *running, momentum=0.1, eps=1e-5)
                for kernel, running in zip(
                    (table[REGISTRY["native_batch_norm"]], REGISTRY["native_batch_norm"].impl),
                    kept,
                    strict=True,
                )
            ]
            for got, want in zip([*results[0], *kept[0]], [*results[1], *kept[1]], strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
        _, mean, rstd = results[0]
        how: dict[str, Any] = {"dims": [0, *range(2, len(shape))], "eps": 1e-5}
        for bad in (x, spoiled(x)):
            alike(table, "standardized", bad, mean, rstd, close=1e-4, **how)
            g, groups_of = values(shape, real, 3), (mean, rstd)
            alike(
                table, "channel_norm_backward", g, bad, *groups_of, weight, wanted=[True] * 3, groups=0,
                eps=1e-5, close=1e-3,
            )  # fmt: skip
            alike(table, "standardize_backward", values(shape, real, 3), bad, mean, rstd, close=1e-4, **how)


@pytest.mark.parametrize("real", FLOATS)
def test_maxima_of_small_images(table: KernelTable, real: Any) -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        kernel = rng.integers(1, 4, 2).tolist()
        how: dict[str, Any] = {
            "kernel_size": kernel, "stride": rng.integers(1, 4, 2).tolist(),
            "padding": [int(rng.integers(0, k // 2 + 1)) for k in kernel],
            "dilation": rng.integers(1, 3, 2).tolist(), "ceil_mode": bool(rng.integers(2)),
        }  # fmt: skip
        x = spoiled(rng.integers(-2, 3, (2, 3, *rng.integers(5, 12, 2))).astype(real), int(rng.integers(99)))
        for image in (x, np.full(x.shape, -np.inf, real)):
            got, want = both(table, "max_pool2d_with_indices", image, **how)
            for g, w in zip(got, want, strict=True):
                np.testing.assert_array_equal(g, w)


# -- attention -------------------------------------------------------------------------------------

CASES = (
    (2, 3, 5, 7, 4, 4),
    (1, 2, 150, 150, 8, 8),
    (1, 1, 9, 4, 5, 3),
    (3, 1, 200, 70, 16, 8),
    (1, 2, 1, 1, 1, 1),
)


def whole(q: Any, k: Any, v: Any, mask: Any, causal: bool, scale: float) -> Any:
    """Attention with all its weights, by definition."""
    scores = (q * scale) @ np.swapaxes(k, -1, -2)
    if causal:
        mask = np.tri(*scores.shape[-2:], dtype=bool)
    if mask is not None:
        scores = scores + (np.where(mask, 0, -np.inf) if mask.dtype == bool else mask)
    weights = REGISTRY["safe_softmax"].impl(np, scores)
    return weights @ v


@pytest.mark.parametrize("real", FLOATS)
@pytest.mark.parametrize("how", ["plain", "causal", "bool", "bool of a head", "float"])
def test_attention(table: KernelTable, how: str, real: Any) -> None:
    rng = np.random.default_rng(0)
    for batch, heads, rows, columns, features, wide in CASES:
        q, k = (
            values((batch, heads, rows, features), real),
            values((batch, heads, columns, features), real, 1),
        )
        v, g = values((batch, heads, columns, wide), real, 2), values((batch, heads, rows, wide), real, 3)
        mask: Any = {
            "bool": rng.random((rows, columns)) < 0.6,
            "bool of a head": rng.random((batch, heads, 1, columns)) < 0.6,
            "float": values((batch, 1, rows, columns), real, 4),
        }.get(how)
        asked: dict[str, Any] = {"causal": how == "causal", "scale": -0.3 if how == "float" else 0.3}
        close = 1e-4 if real is np.float32 else 1e-10
        for bad in (False, True):
            if bad:
                k[..., -1, 0], v[..., -1, 0], q[..., 0, 0] = np.nan, np.inf, -np.inf
            got, plain = both(table, "attend", q, k, v, mask, **asked)
            with np.errstate(all="ignore"):
                want = whole(q, k, v, mask, **asked)
            for found in (got, plain):
                np.testing.assert_allclose(found, want, rtol=close, atol=close, equal_nan=True)
            if not bad:
                alike(table, "attend_backward", g, q, k, v, mask, close=close * 10, **asked)


def test_edges_are_as_many_as_the_plain_kernels_have(table: KernelTable) -> None:
    """Bad scores in one row stay there."""
    assert np.isnan(EDGES).any()
    q = values((1, 1, 13, 4), np.float32)
    q[0, 0, :, 0] = edges(np.float32)
    alike(table, "attend", q, values(q.shape, np.float32, 1), values(q.shape, np.float32, 2), None,
          causal=False, scale=0.5, close=1e-4)  # fmt: skip
