"""Recurrent layers in one direction on the device: all steps in one launch, or a product and a launch each.

There are kernels for all dtypes that the op takes, so none falls back. Formulas and the layout of rows are
those of `kernels.recurrent`.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import numel
from ..recurrent import SHAPES, order
from .launch import WARP, dense, each, empty, launch
from .products import matmul

if TYPE_CHECKING:
    from collections.abc import Sequence

#: what `recurrent.cu` calls these; bytes of a sample's state for which one launch runs all steps
SAMPLES = 4
MOST_BYTES = 1024


def _whole(first: Any) -> bool:
    """Whether one launch runs all steps of a layer with these states."""
    return bool(first.shape[1] * first.itemsize <= MOST_BYTES)


def _flat(xp: Any, a: Any) -> Any:
    """Row-major rows below one another; None stays None."""
    return None if a is None else dense(xp, a.reshape(-1, a.shape[-1]))


def _grid(first: Any) -> tuple[tuple[int], int]:
    """Blocks and threads of a launch for all steps: a thread for each unit."""
    batch, units = first.shape
    return (-(-batch // SAMPLES),), -(-units // WARP) * WARP


def _course(xp: Any, sizes: Sequence[int], batch: int, back: bool) -> tuple[Any, int, int, int]:
    """Where each step's rows begin, None where all have the same number; steps, samples, and whether they run
    backwards.
    """
    starts = None
    if sizes[-1] != batch:
        starts = xp.asarray(np.array([0, *accumulate(sizes)], np.int64))
    return starts, len(sizes), batch, int(back)


def _pair(states: Sequence[Any]) -> list[Any]:
    """States and cells; None for what the kind of layer lacks."""
    return [*states, None][:2]


def _layer(_: Any) -> Any:
    def kernel(
        xp: Any, rows: Any, hx: Any, w_hh: Any, b_hh: Any, kind: str, back: bool, kept: bool, batch_sizes: Any
    ) -> list[Any]:
        (batch, units), dtype = hx[0].shape, w_hh.dtype
        lead = rows.shape[:-1]
        sizes = [batch] * lead[0] if batch_sizes is None else batch_sizes
        out = empty(xp, (*lead, units), dtype)
        reserve = empty(xp, (*lead, SHAPES[kind].kept * units) if kept else (0,), dtype)
        filled, x, bias = reserve if kept else None, _flat(xp, rows), dense(xp, b_hh)
        if _whole(hx[0]):
            last = [empty(xp, held.shape, dtype) for held in hx]
            grid, threads = _grid(hx[0])
            launch(
                xp, f"{kind}_layer", dtype.char, grid, threads, x, *_pair([dense(xp, h) for h in hx]),
                dense(xp, w_hh.T), bias, out, *_pair(last), filled, *_course(xp, sizes, batch, back), units,
            )  # fmt: skip
        else:
            last = [xp.array(held, order="C") for held in hx]
            products = empty(xp, (batch, x.shape[1]), dtype)
            for at, many in order(sizes, back):
                matmul(xp, last[0][:many], w_hh.T, out=products[:many])
                each(
                    xp, f"{kind}_step", dtype.char, many * units, x, products, bias, *_pair(last), out,
                    filled, at, many, units,
                )  # fmt: skip
        return [out, last[0], reserve, *last[1:]]

    return kernel


def _backward(_: Any) -> Any:
    def kernel(
        xp: Any, grad_output: Any, grad_hn: Any, grad_reserve: Any, grad_cn: Any, hx: Any, w_hh: Any,
        reserve: Any, kind: str, back: bool, wanted: Sequence[bool], batch_sizes: Any,
    ) -> list[Any]:  # fmt: skip
        (batch, units), dtype = hx[0].shape, w_hh.dtype
        lead = reserve.shape[:-1]
        sizes = [batch] * lead[0] if batch_sizes is None else batch_sizes
        total, width = numel(lead), w_hh.shape[0]
        slopes = empty(xp, (total, width), dtype)
        # a gated unit scales what comes of its state, so that its inputs have other slopes
        inner = empty(xp, slopes.shape, dtype) if kind == "gru" and wanted[0] else None
        before = empty(xp, (total, units), dtype) if wanted[2] else None
        trail = (
            _flat(xp, grad_output), _flat(xp, grad_reserve), _flat(xp, reserve),
            *_pair([dense(xp, h) for h in hx]), slopes, inner, before, units,
        )  # fmt: skip
        ends = [grad_hn, grad_cn][: len(hx)]
        run = _all_at_once if _whole(hx[0]) else _by_steps
        of_states = run(xp, kind, back, trail, ends, dense(xp, w_hh), hx, sizes)
        found = [(slopes if inner is None else inner).reshape(*lead, width)] if wanted[0] else []
        found += of_states if wanted[1] else []
        found += [matmul(xp, slopes.T, before)] if wanted[2] else []
        return found + ([slopes.sum(axis=0)] if wanted[3] else [])

    return kernel


def _all_at_once(
    xp: Any, kind: str, back: bool, trail: Any, ends: Any, weight: Any, hx: Any, sizes: Any
) -> list[Any]:
    """Make the slopes in one launch; the gradients of the states to begin with."""
    of_states = [empty(xp, held.shape, weight.dtype) for held in hx]
    grid, threads = _grid(hx[0])
    launch(
        xp, f"{kind}_layer_back", weight.dtype.char, grid, threads, *trail,
        *_pair([dense(xp, g) for g in ends]), weight, *_pair(of_states),
        *_course(xp, sizes, hx[0].shape[0], back),
    )  # fmt: skip
    return of_states


def _by_steps(
    xp: Any, kind: str, back: bool, trail: Any, ends: Any, weight: Any, hx: Any, sizes: Any
) -> list[Any]:
    """Make the slopes by a product and a launch for each step; the gradients of the states to begin with."""
    shape, dtype, slopes = hx[0].shape, weight.dtype, trail[5]
    of_states = [xp.zeros(shape, dtype) if g is None else xp.array(g, order="C") for g in ends]
    # the state of a gated unit goes to the next one by another way too
    apart = xp.zeros(shape, dtype) if kind == "gru" else None
    products = of_states[0] if apart is None else apart
    steps = order(sizes, back)
    for t in range(len(steps) - 1, -1, -1):
        at, many = steps[t]
        each(
            xp, f"{kind}_step_back", dtype.char, many * shape[1], *trail, apart, *_pair(of_states), at, many,
            *(steps[t - 1] if t else (0, 0)),
        )  # fmt: skip
        matmul(xp, slopes[at : at + many], weight, out=products[:many])
    if apart is not None:
        of_states[0] += apart
    return of_states


NATIVE = {"recurrent_layer": _layer, "recurrent_layer_backward": _backward}
