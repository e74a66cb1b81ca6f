"""The kernels of recurrent layers: compiled cells beside the plain ones, and their tanh beside NumPy's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from gradd_engine.kernels import CELLS, SHAPES, KernelTable, run_layer
from gradd_engine.schema.registry import REGISTRY

from tests.engine.test_kernels import EDGES, FLOATS, check, values

BATCH, HIDDEN = 3, 17
SIZES = {"even": None, "packed": [3, 3, 2, 1, 1, 1]}
HOW = [(kind, back, sizes) for kind in SHAPES for back in (False, True) for sizes in SIZES]


def _given(kind: str, sizes: list[int] | None, real: Any) -> tuple[Any, ...]:
    """Rows, states, weight and bias."""
    shape = SHAPES[kind]
    width = shape.gates * HIDDEN
    rows = values((6, BATCH, width) if sizes is None else (sum(sizes), width), real, 1)
    hx = [values((BATCH, HIDDEN), real, 2 + i) for i in range(shape.states)]
    return rows, hx, values((width, HIDDEN), real, 4, 0.3), values((width,), real, 5)


@pytest.mark.parametrize("real", FLOATS)
@pytest.mark.parametrize(("kind", "back", "sizes"), HOW)
def test_layers(table: KernelTable, kind: str, back: bool, sizes: str, real: Any) -> None:
    how: dict[str, Any] = {"kind": kind, "back": back, "batch_sizes": SIZES[sizes]}
    rows, hx, w_hh, b_hh = _given(kind, SIZES[sizes], real)
    for kept in (False, True):
        check(table, "recurrent_layer", rows, hx, w_hh, b_hh, kept=kept, **how)
    check(table, "recurrent_layer", rows, hx, w_hh, None, kept=True, **how)


@pytest.mark.parametrize("real", FLOATS)
@pytest.mark.parametrize(("kind", "back", "sizes"), HOW)
def test_gradients_of_layers(table: KernelTable, kind: str, back: bool, sizes: str, real: Any) -> None:
    how: dict[str, Any] = {"kind": kind, "back": back, "batch_sizes": SIZES[sizes]}
    rows, hx, w_hh, b_hh = _given(kind, SIZES[sizes], real)
    op = REGISTRY["recurrent_layer"]
    out, last, reserve, *_ = op.impl(np, rows, hx, w_hh, b_hh, kept=True, **how)
    of_out, of_last = values(out.shape, real, 6), values(last.shape, real, 7)
    of_cell = of_last if kind == "lstm" else None
    name = "recurrent_layer_backward"
    for wanted in ([True] * 4, [True, False, False, False], [False, True, True, False]):
        check(table, name, of_out, of_last, None, of_cell, hx, w_hh, reserve, wanted=wanted, **how)
    check(table, name, None, of_last, None, None, hx, w_hh, reserve, wanted=[True] * 4, **how)
    check(table, name, of_out, None, None, None, hx, w_hh, reserve, wanted=[True] * 4, **how)


@pytest.mark.parametrize("kind", SHAPES)
def test_few_steps_are_the_first_of_many(kind: str) -> None:
    rows, hx, w_hh, b_hh = _given(kind, None, np.float64)
    flat = rows.reshape(-1, rows.shape[-1])
    many = run_layer(np, CELLS, flat, hx, w_hh, b_hh, kind, False, False, [BATCH] * 6)
    few = run_layer(np, CELLS, flat[: 2 * BATCH], hx, w_hh, b_hh, kind, False, False, [BATCH] * 2)
    np.testing.assert_allclose(few[0], many[0][: 2 * BATCH], rtol=1e-12)


@pytest.mark.parametrize(("real", "ulps"), [(np.float32, 2), (np.float64, 2)])
def test_tanh_in_cells_is_accurate(table: KernelTable, real: Any, ulps: float) -> None:
    grid = np.concatenate([np.linspace(-20, 20, 20001), np.geomspace(1e-12, 1, 2001)])
    with np.errstate(all="ignore"):
        x = np.concatenate([grid, EDGES]).astype(real)
    zeros = np.zeros((len(x), 1), real)
    layer = table[REGISTRY["recurrent_layer"]]
    how: dict[str, Any] = {"kind": "rnn_tanh", "back": False, "kept": False, "batch_sizes": None}
    got = layer(np, x.reshape(1, -1, 1), [zeros], zeros[:1], None, **how)[0].reshape(-1)
    want = np.tanh(x.astype(np.float64))
    assert np.array_equal(np.isnan(got), np.isnan(want))
    real_want = want.astype(real)
    known = np.isfinite(want) & (np.abs(want) > math.sqrt(np.finfo(real).tiny))
    off = np.abs(got[known].astype(np.float64) - want[known]) / np.spacing(np.abs(real_want[known]))
    assert off.max() <= ulps
