"""Compiled kernels against the plain ones, the table that gives them out, and the formulas they share."""

from __future__ import annotations

import importlib
import importlib.util
import math
import os
import platform
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gradd_engine import ops
from gradd_engine.backends.array import NumpyBackend
from gradd_engine.kernels import KernelTable, gauss
from gradd_engine.kernels.tiles import TILE, tiled
from gradd_engine.schema.registry import REGISTRY

assert ops.__all__, "importing the families declares them"

FLOATS = (np.float32, np.float64)
CLOSE = {np.float32: 2e-5, np.float64: 1e-12}
SHAPES = ((), (1,), (3,), (17,), (1025,), (5, 7, 33), (2, 70000))
ROWS = ((1, 1), (3, 5), (2, 3, 16), (4, 129), (64, 10))
EDGES = (math.inf, -math.inf, math.nan, -math.nan, 0.0, -0.0, 1e-40, 88.9, -103.5, 700.0, -745.0, 3e38, -1e20)


def values(shape: tuple[int, ...], real: Any, seed: int = 0, scale: float = 2.0) -> Any:
    return np.asarray(np.random.default_rng(seed).standard_normal(shape) * scale).astype(real)


def edges(real: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.array(EDGES).astype(real)


def unaligned(a: Any) -> Any:
    raw = np.zeros(a.nbytes + 1, np.uint8)
    out = raw[1:].view(a.dtype).reshape(a.shape)
    out[...] = a
    return out


def layouts(a: Any) -> list[Any]:
    """The same numbers, as they may lie in memory."""
    wide = np.zeros((*a.shape, 2), a.dtype)
    wide[..., 0] = a
    fixed = a.copy()
    fixed.flags.writeable = False
    return [wide[..., 0], np.asfortranarray(a), unaligned(a), fixed]


def both(table: KernelTable, name: str, *args: Any, **attrs: Any) -> tuple[Any, Any]:
    op = REGISTRY[name]
    assert table[op] is not op.impl
    with np.errstate(all="ignore"):
        return table[op](np, *args, **attrs), op.impl(np, *args, **attrs)


def check(
    table: KernelTable, name: str, *args: Any, close: float | None = None, bits: bool = True, **attrs: Any
) -> None:
    """The compiled kernel's results are the plain one's, and the same bits in whatever layout inputs come."""
    got, want = both(table, name, *args, **attrs)
    real = next(a for a in args if isinstance(a, np.ndarray) and a.dtype.kind == "f").dtype.type
    several = isinstance(want, (list, tuple))
    for g, w in zip(got if several else [got], want if several else [want], strict=True):
        g, w = np.asarray(g), np.asarray(w)
        assert (g.shape, g.dtype) == (w.shape, w.dtype)
        tolerance = CLOSE[real] if close is None else close
        np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance, equal_nan=True, err_msg=name)
    if not bits:
        return
    for laid in zip(*(layouts(a) if isinstance(a, np.ndarray) else [a] * 4 for a in args), strict=True):
        again, _ = both(table, name, *laid, **attrs)
        for g, a in zip(got if several else [got], again if several else [again], strict=True):
            assert np.asarray(g).tobytes() == np.asarray(a).tobytes(), name


UNARY: list[tuple[str, dict[str, Any]]] = [
    ("erf", {}),
    ("erfc", {}),
    ("gelu", {"approximate": "none"}),
    ("gelu", {"approximate": "tanh"}),
    ("relu", {}),
    ("sigmoid", {}),
    ("silu", {}),
]
BINARY: list[tuple[str, dict[str, Any]]] = [
    ("elu_backward", {"alpha": 1.5, "scale": 1.25, "input_scale": 0.5}),
    ("gelu_backward", {"approximate": "none"}),
    ("gelu_backward", {"approximate": "tanh"}),
    ("hardshrink_backward", {"lambd": 0.5}),
    ("hardtanh_backward", {"min_val": 0, "max_val": 0.5}),
    ("leaky_relu_backward", {"negative_slope": 0.2}),
    ("sigmoid_backward", {}),
    ("silu_backward", {}),
    ("tanh_backward", {}),
    ("threshold_backward", {"threshold": 0.5}),
]


@pytest.mark.parametrize("real", FLOATS)
@pytest.mark.parametrize(("name", "attrs"), UNARY)
def test_functions_of_one_array(table: KernelTable, name: str, attrs: Any, real: Any) -> None:
    for shape in SHAPES:
        check(table, name, values(shape, real), **attrs)
    check(table, name, edges(real), **attrs)


@pytest.mark.parametrize("real", FLOATS)
@pytest.mark.parametrize(("name", "attrs"), BINARY)
def test_functions_of_two_arrays(table: KernelTable, name: str, attrs: Any, real: Any) -> None:
    for shape in SHAPES:
        check(table, name, values(shape, real), values(shape, real, 1), **attrs)
    x = edges(real)
    # as often as it takes for compiled kernels to be preferred
    often = np.resize(x, 1200)
    check(table, name, values(often.shape, real), often, **attrs)
    slopes = x[~(np.abs(x) > 1e3) | np.isinf(x)]
    check(table, name, slopes, values(slopes.shape, real), **attrs)
    # shapes that broadcast are left to the plain kernel
    got, want = both(table, name, values((3, 4), real), values((4,), real, 1), **attrs)
    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("real", FLOATS)
@pytest.mark.parametrize("name", ["softmax_kernel", "log_softmax_kernel", "safe_softmax"])
def test_softmax(table: KernelTable, name: str, real: Any) -> None:
    how: dict[str, Any] = {} if name == "safe_softmax" else {"dim": -1}
    for shape in (*ROWS, (7,), (2, 0), (0, 3)):
        if shape[-1] or name == "safe_softmax":
            check(table, name, values(shape, real, scale=20.0), **how)
    hard = values((len(EDGES) + 2, 19), real)
    hard[: len(EDGES), 7] = edges(real)
    hard[-2], hard[-1] = -np.inf, np.inf
    check(table, name, hard, **how)
    if how:
        check(table, name, values((4, 5, 6), real), dim=1)
        check(table, name, values((), real), dim=-1)


@pytest.mark.parametrize("real", FLOATS)
@pytest.mark.parametrize("name", ["softmax_backward", "log_softmax_backward"])
def test_softmax_gradients(table: KernelTable, name: str, real: Any) -> None:
    for shape in ROWS:
        result = REGISTRY[name.removesuffix("_backward") + "_kernel"].impl(np, values(shape, real, 1), -1)
        check(table, name, values(shape, real), result, dim=len(shape) - 1)
    check(table, name, values((4, 5, 6), real), values((4, 5, 6), real, 1), dim=0)


@pytest.mark.parametrize("real", FLOATS)
@pytest.mark.parametrize("given", ["both", "weight", "bias", "neither"])
def test_layer_norm(table: KernelTable, given: str, real: Any) -> None:
    for shape, count in (((1, 2), 1), ((3, 5), 1), ((2, 3, 16), 2), ((4, 129), 1), ((2, 5, 33), 1)):
        inner = shape[len(shape) - count :]
        x = values(shape, real)
        weight = values(inner, real, 1) if given in ("both", "weight") else None
        bias = values(inner, real, 2) if given in ("both", "bias") else None
        how: dict[str, Any] = {"normalized_shape": list(inner), "eps": 1e-5}
        check(table, "native_layer_norm", x, weight, bias, **how)
        _, mean, rstd = REGISTRY["native_layer_norm"].impl(np, x, weight, bias, **how)
        for wanted in ([True, True, True], [True, False, False], [False, True, True], [False, False, True]):
            check(
                table, "native_layer_norm_backward", values(shape, real, 3), x, mean, rstd, weight,
                wanted=wanted, **how,
            )  # fmt: skip


@pytest.mark.parametrize("real", FLOATS)
def test_sums_over_leading_dimensions(table: KernelTable, real: Any) -> None:
    for shape, size in (
        ((7, 3), (3,)), ((1, 3), (3,)), ((9, 2, 5), (5,)), ((9, 2, 5), (1, 2, 5)), ((9, 2, 5), (1, 1, 5)),
        ((0, 4), (4,)), ((4, 0), (0,)), ((4, 5), (4, 1)), ((4, 5), ()), ((4, 5), (1, 1)), ((4, 5), (4, 5)),
        ((1030, 17), (17,)),
    ):  # fmt: skip
        # sizes that reduce last dimensions are left to the plain kernel, which follows the layout
        leading = bool(size) and size[-1] == shape[-1]
        check(table, "sum_to_size", values(shape, real), close=1e-4, bits=leading, size=size)


@pytest.mark.parametrize("real", FLOATS)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
def test_negative_log_likelihood(table: KernelTable, reduction: str, weighted: bool, real: Any) -> None:
    rng = np.random.default_rng(0)
    for n, classes in ((1, 1), (5, 3), (64, 10)):
        logs, target = values((n, classes), real), rng.integers(0, classes, n)
        target[n // 2] = -100
        weight = np.abs(values((classes,), real, 1)) if weighted else None
        how: dict[str, Any] = {"reduction": reduction, "ignore_index": -100}
        for y in (target, np.where(target < 0, 0, target).astype(np.uint8)):
            check(table, "nll_loss_flat", logs, y, weight, **how)
            _, (_, total) = both(table, "nll_loss_flat", logs, y, weight, **how)
            total = np.asarray(total)
            g = values((n,) if reduction == "none" else (), real, 2)
            check(table, "nll_loss_backward", g, y, weight, total, shape=[n, classes], **how)


@pytest.mark.parametrize("bad", [-1, 3, 2**40])
def test_classes_out_of_range_raise(table: KernelTable, bad: int) -> None:
    target = np.array([0, bad])
    how: dict[str, Any] = {"reduction": "mean", "ignore_index": -100}
    for name, args, more in (
        ("nll_loss_flat", (values((2, 3), np.float32), target, None), {}),
        ("nll_loss_backward", (values((), np.float32), target, None, np.float32(2)), {"shape": [2, 3]}),
    ):
        with pytest.raises(IndexError, match=f"Target {bad} is out of bounds"):
            table[REGISTRY[name]](np, *args, **more, **how)


@pytest.mark.parametrize("real", FLOATS)
@pytest.mark.parametrize("key", [(0, 0), (2**64 - 1, 5), (12345, 2**40)])
def test_dropout_masks_are_the_same_bits(table: KernelTable, key: tuple[int, int], real: Any) -> None:
    for shape in ((), (1,), (7,), (8,), (3, 5, 11), (64, 32)):
        meta: Any = SimpleNamespace(shape=shape)
        got, want = both(table, "dropout_mask", values(shape, real), p=0.3, features=0, meta=meta, key=key)
        assert got.tobytes() == np.asarray(want).tobytes()


STEPS: list[tuple[str, dict[str, Any]]] = [
    ("sgd", {}),
    ("sgd", {"weight_decay": 0.1, "maximize": True}),
    ("sgd", {"momentum": 0.9, "dampening": 0.1, "first": True}),
    ("sgd", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("adam", {}),
    ("adam", {"amsgrad": True, "weight_decay": 0.1}),
    ("adam", {"decoupled": True, "weight_decay": 0.1, "maximize": True}),
    ("adam", {"beta1": 0.2}),
]
DEFAULTS: dict[str, dict[str, Any]] = {
    "sgd": {
        "lr": 0.1, "momentum": 0.0, "dampening": 0.0, "weight_decay": 0.0, "nesterov": False,
        "maximize": False, "first": False,
    },
    "adam": {
        "lr": 0.1, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.0, "amsgrad": False,
        "maximize": False, "decoupled": False,
    },
}  # fmt: skip


def stepped(kernel: Any, kind: str, attrs: dict[str, Any], real: Any, layout: int | None) -> list[Any]:
    """Parameters and state after three steps, in memory laid out by that number of `layouts`."""
    shapes = ((), (1,), (33,), (9, 7))
    lists = [[values(s, real, seed) for s in shapes] for seed in range(5)]
    lists[3:] = [[np.asarray(np.abs(a)) for a in some] for some in lists[3:]]
    if layout is not None:
        lists = [[layouts(a)[layout] for a in some] for some in lists]
    params, grads, first, second, third = lists
    counts = [np.zeros((), np.float32) for _ in shapes]
    state = [first if attrs.get("momentum") else []]
    if kind == "adam":
        state = [first, second, counts, third if attrs["amsgrad"] else []]
    with np.errstate(all="ignore"):
        for _ in range(3):
            kernel(np, params, grads, *state, None, **attrs)
    return [*params, *first, *second, *third, *counts]


@pytest.mark.parametrize("real", FLOATS)
@pytest.mark.parametrize(("kind", "more"), STEPS)
def test_optimizer_steps(table: KernelTable, kind: str, more: dict[str, Any], real: Any) -> None:
    op, attrs = REGISTRY[f"{kind}_step"], {**DEFAULTS[kind], **more}
    got, want = (stepped(kernel, kind, attrs, real, None) for kernel in (table[op], op.impl))
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w, rtol=CLOSE[real], atol=CLOSE[real])
    for layout in range(3):
        again = stepped(table[op], kind, attrs, real, layout)
        assert [a.tobytes() for a in again] == [g.tobytes() for g in got]


def test_other_dtypes_are_left_to_the_plain_kernels(table: KernelTable) -> None:
    for name, dtype, attrs in (
        ("relu", np.int32, {}),
        ("tanh_backward", np.complex64, {}),
        ("threshold_backward", np.int64, {"threshold": 1}),
        ("sum_to_size", np.int64, {"size": (3,)}),
    ):
        a = np.arange(6).reshape(2, 3).astype(dtype)
        args = (a, a) if "backward" in name else (a,)
        got, want = both(table, name, *args, **attrs)
        assert got.dtype == want.dtype
        assert got.tobytes() == want.tobytes()


# -- the table -------------------------------------------------------------------------------------


def test_numpy_table_is_the_ops_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADD_KERNELS", "numpy")
    table = KernelTable(np)
    assert table.id == f"numpy-{np.__version__}"
    assert all(table[op] is op.impl for op in REGISTRY.values())


def test_table_is_fixed_once_it_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADD_KERNELS", "numpy")
    backend = NumpyBackend()
    assert backend.kernels.id.startswith("numpy-")
    monkeypatch.setenv("GRADD_KERNELS", "jit")
    op = REGISTRY["gelu"]
    assert backend.kernels[op] is op.impl


def test_compiled_table_has_an_id_of_its_own(table: KernelTable) -> None:
    assert table.id.startswith("jit-")
    assert table.id.endswith(f"+numpy-{np.__version__}")
    assert "+numba-" in table.id


def identity(**environment: str) -> str:
    asked = "import numpy; from gradd_engine.kernels import KernelTable; print(KernelTable(numpy).identity)"
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", asked],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "2", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return found.stdout


def test_identity_tells_what_bits_depend_on() -> None:
    said = [identity(), identity(OPENBLAS_NUM_THREADS="1"), identity(GRADD_KERNELS="numpy")]
    assert identity() == said[0]
    linked: Any = importlib.import_module("numpy._core._multiarray_umath")
    found = [name for name in linked.__cpu_dispatch__ if linked.__cpu_features__[name]]
    if found:
        said.append(identity(NPY_DISABLE_CPU_FEATURES=" ".join(found)))
    if "DYNAMIC_ARCH" in said[0]:
        said.append(identity(OPENBLAS_CORETYPE="Nehalem" if platform.machine() == "x86_64" else "ARMV8"))
    assert len(set(said)) == len(said)


def test_tables_that_are_not_there_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADD_KERNELS", "fortran")
    with pytest.raises(RuntimeError, match="neither numpy nor jit"):
        KernelTable(np).load()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("GRADD_KERNELS", "jit")
    with pytest.raises(RuntimeError, match=r"pip install 'gradd\[jit\]'"):
        KernelTable(np).load()
    monkeypatch.delenv("GRADD_KERNELS")
    assert KernelTable(np).id.startswith("numpy-")


# -- shared formulas -------------------------------------------------------------------------------


@pytest.mark.parametrize(("real", "ulps"), [(np.float32, 8.0), (np.float64, 8.0)])
def test_error_functions_are_accurate(real: Any, ulps: float) -> None:
    x = np.concatenate([np.linspace(-6, 6, 4001), [0.5, -0.5, 1e-8, 0.0]]).astype(real)
    for fn, exact in ((gauss.erf, math.erf), (gauss.erfc, math.erfc)):
        want = np.array([exact(float(v)) for v in x])
        got = tiled(np, fn, x).astype(np.float64)
        assert np.max(np.abs(got - want) / np.spacing(np.abs(want).astype(real))) < ulps
    below, bell = gauss.normal(np, x)
    want = np.array([0.5 * math.erfc(-float(v) / math.sqrt(2)) for v in x])
    assert np.max(np.abs(below - want)) < 2 * np.finfo(real).eps
    np.testing.assert_allclose(bell, np.exp(-0.5 * x.astype(np.float64) ** 2), rtol=20 * np.finfo(real).eps)


@pytest.mark.parametrize("real", FLOATS)
def test_tiles_change_nothing(real: Any) -> None:
    x = values((3, TILE), real)
    whole = gauss.erf(np, x)
    np.testing.assert_allclose(tiled(np, gauss.erf, x), whole, rtol=4 * np.finfo(real).eps)
    np.testing.assert_allclose(tiled(np, gauss.erf, x.T), whole.T, rtol=4 * np.finfo(real).eps)
