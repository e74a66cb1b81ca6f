"""Cells of recurrent layers: all gates of a step in a few passes over each row (see `recurrent`).

Each loop writes one array, so that it vectorises without knowing that the arrays lie apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import floating, ready
from .maths import exp_sum, hyperbolic
from .native import compiled
from .recurrent import CELLS, Cell


@compiled(2, 2, 1, 2, 2, 2, 2)
def _lstm(rows: Any, sums: Any, bias: Any, h: Any, c: Any, out: Any, kept: Any) -> None:
    n = h.shape[1]
    zero, one = h.dtype.type(0), h.dtype.type(1)
    for i in range(rows.shape[0]):
        x, s, cell = rows[i], sums[i], c[i]
        sigmoids, tanhs, gate, new = kept[i, : 2 * n], kept[i, 2 * n : 3 * n], kept[i, 3 * n : 4 * n], out[i]
        for j in range(2 * n):
            sigmoids[j] = one / (one + exp_sum(-(s[j] + x[j] + bias[j]), zero))
        s2, x2, b2 = s[2 * n : 3 * n], x[2 * n : 3 * n], bias[2 * n : 3 * n]
        for j in range(n):
            tanhs[j] = hyperbolic(s2[j] + x2[j] + b2[j])
        s3, x3, b3 = s[3 * n :], x[3 * n :], bias[3 * n :]
        for j in range(n):
            gate[j] = one / (one + exp_sum(-(s3[j] + x3[j] + b3[j]), zero))
        into, forget = sigmoids[:n], sigmoids[n:]
        for j in range(n):
            cell[j] = forget[j] * cell[j] + into[j] * tanhs[j]
        for j in range(n):
            new[j] = gate[j] * hyperbolic(cell[j])
        kept[i, 4 * n :] = cell
        h[i] = new


@compiled(2, 2, 2)
def _lstm_made(kept: Any, h: Any, tops: Any) -> None:
    n = h.shape[1]
    for i in range(h.shape[0]):
        gate, cell, made, top = kept[i, 3 * n : 4 * n], kept[i, 4 * n :], h[i], tops[i]
        for j in range(n):
            top[j] = hyperbolic(cell[j])
        for j in range(n):
            made[j] = gate[j] * top[j]


@compiled(2, 2, 2, 2, 2, 2, 2)
def _lstm_backward(kept: Any, cells: Any, tops: Any, of_out: Any, dh: Any, dc: Any, slopes: Any) -> None:
    n = dh.shape[1]
    one = dh.dtype.type(1)
    for i in range(slopes.shape[0]):
        d, d_cell, top, before = dh[i], dc[i], tops[i], cells[i]
        into, forget, new, gate = kept[i, :n], kept[i, n : 2 * n], kept[i, 2 * n : 3 * n], kept[i, 3 * n :]
        if of_out.size:
            more = of_out[i]
            for j in range(n):
                d[j] += more[j]
        for j in range(n):
            d_cell[j] += d[j] * gate[j] * (one - top[j] * top[j])
        to_i, to_f, to_g, to_o = (
            slopes[i, :n], slopes[i, n : 2 * n], slopes[i, 2 * n : 3 * n], slopes[i, 3 * n :]
        )  # fmt: skip
        for j in range(n):
            to_i[j] = d_cell[j] * new[j] * ((one - into[j]) * into[j])
        for j in range(n):
            to_f[j] = d_cell[j] * before[j] * ((one - forget[j]) * forget[j])
        for j in range(n):
            to_g[j] = d_cell[j] * into[j] * (one - new[j] * new[j])
        for j in range(n):
            to_o[j] = d[j] * top[j] * ((one - gate[j]) * gate[j])
        for j in range(n):
            d_cell[j] *= forget[j]


@compiled(2, 2, 1, 2, 2, 2)
def _gru(rows: Any, sums: Any, bias: Any, h: Any, out: Any, kept: Any) -> None:
    n = h.shape[1]
    zero, one = h.dtype.type(0), h.dtype.type(1)
    for i in range(rows.shape[0]):
        x, s, state, new = rows[i], sums[i], h[i], out[i]
        gates, within, part = kept[i, : 2 * n], kept[i, 2 * n : 3 * n], kept[i, 3 * n : 4 * n]
        for j in range(2 * n):
            gates[j] = one / (one + exp_sum(-(s[j] + x[j] + bias[j]), zero))
        reset, update = gates[:n], gates[n:]
        s2, x2, b2 = s[2 * n :], x[2 * n :], bias[2 * n :]
        for j in range(n):
            part[j] = s2[j] + b2[j]
        for j in range(n):
            within[j] = hyperbolic(x2[j] + part[j] * reset[j])
        for j in range(n):
            new[j] = (state[j] - within[j]) * update[j] + within[j]
        kept[i, 4 * n :] = new
        h[i] = new


@compiled(2, 2, 2, 2, 2, 2)
def _gru_backward(kept: Any, states: Any, of_out: Any, dh: Any, slopes: Any, inner: Any) -> None:
    n = dh.shape[1]
    one = dh.dtype.type(1)
    for i in range(slopes.shape[0]):
        d, before = dh[i], states[i]
        reset, update, within, part = (
            kept[i, :n], kept[i, n : 2 * n], kept[i, 2 * n : 3 * n], kept[i, 3 * n : 4 * n]
        )  # fmt: skip
        if of_out.size:
            more = of_out[i]
            for j in range(n):
                d[j] += more[j]
        to_r, to_z, to_n, to_q = inner[i, :n], inner[i, n : 2 * n], inner[i, 2 * n :], slopes[i, 2 * n :]
        for j in range(n):
            to_n[j] = d[j] * (one - update[j]) * (one - within[j] * within[j])
        for j in range(n):
            to_r[j] = to_n[j] * part[j] * ((one - reset[j]) * reset[j])
        for j in range(n):
            to_z[j] = d[j] * (before[j] - within[j]) * ((one - update[j]) * update[j])
        slopes[i, : 2 * n] = inner[i, : 2 * n]
        for j in range(n):
            to_q[j] = to_n[j] * reset[j]
        for j in range(n):
            d[j] *= update[j]


@compiled(2, 2, 1, 2, 2, 2)
def _tanh(rows: Any, sums: Any, bias: Any, h: Any, out: Any, kept: Any) -> None:
    for i in range(rows.shape[0]):
        x, s, new = rows[i], sums[i], out[i]
        for j in range(new.size):
            new[j] = hyperbolic(s[j] + x[j] + bias[j])
        kept[i] = new
        h[i] = new


@compiled(2, 2, 2, 2)
def _tanh_backward(kept: Any, of_out: Any, dh: Any, slopes: Any) -> None:
    one = dh.dtype.type(1)
    for i in range(slopes.shape[0]):
        d, made, to = dh[i], kept[i], slopes[i]
        if of_out.size:
            more = of_out[i]
            for j in range(d.size):
                d[j] += more[j]
        for j in range(d.size):
            to[j] = d[j] * (one - made[j] * made[j])


@compiled(2, 2, 1, 2, 2, 2)
def _relu(rows: Any, sums: Any, bias: Any, h: Any, out: Any, kept: Any) -> None:
    zero = h.dtype.type(0)
    for i in range(rows.shape[0]):
        x, s, new = rows[i], sums[i], out[i]
        for j in range(new.size):
            total = s[j] + x[j] + bias[j]
            new[j] = zero if total <= zero else total
        kept[i] = new
        h[i] = new


@compiled(2, 2, 2, 2)
def _relu_backward(kept: Any, of_out: Any, dh: Any, slopes: Any) -> None:
    zero = dh.dtype.type(0)
    for i in range(slopes.shape[0]):
        d, made, to = dh[i], kept[i], slopes[i]
        if of_out.size:
            more = of_out[i]
            for j in range(d.size):
                d[j] += more[j]
        for j in range(d.size):
            to[j] = zero if made[j] <= zero else d[j]


def _made_by_lstm(xp: Any, kept: Any) -> tuple[list[Any], Any]:
    n = kept.shape[1] // 5
    h, tops = np.empty((2, kept.shape[0], n), kept.dtype)
    _lstm_made(kept, h, tops)
    return [h, kept[:, 4 * n :]], tops


def _out(of_out: Any, kept: Any) -> Any:
    return kept[:0] if of_out is None else of_out


def _forward(fn: Any) -> Any:
    def forward(xp: Any, rows: Any, sums: Any, bias: Any, state: Any, out: Any, kept: Any) -> None:
        fn(rows, sums, bias, *state, out, kept)

    return forward


def _back_lstm(
    xp: Any, kept: Any, before: Any, more: Any, of_out: Any, of_kept: Any, of_state: Any, slopes: Any,
    inner: Any,
) -> None:  # fmt: skip
    dh, dc = of_state
    _lstm_backward(kept, before[1], more, _out(of_out, kept), dh, dc, slopes)


def _back_gru(
    xp: Any, kept: Any, before: Any, more: Any, of_out: Any, of_kept: Any, of_state: Any, slopes: Any,
    inner: Any,
) -> None:  # fmt: skip
    _gru_backward(kept, before[0], _out(of_out, kept), of_state[0], slopes, inner)


def _back_plain(fn: Any) -> Any:
    def backward(
        xp: Any, kept: Any, before: Any, more: Any, of_out: Any, of_kept: Any, of_state: Any, slopes: Any,
        inner: Any,
    ) -> None:  # fmt: skip
        fn(kept, _out(of_out, kept), of_state[0], slopes)

    return backward


COMPILED: dict[str, Cell] = {
    "lstm": Cell(_forward(_lstm), _back_lstm, _made_by_lstm),
    "gru": Cell(_forward(_gru), _back_gru, CELLS["gru"].prepare),
    "rnn_tanh": Cell(_forward(_tanh), _back_plain(_tanh_backward), CELLS["rnn_tanh"].prepare),
    "rnn_relu": Cell(_forward(_relu), _back_plain(_relu_backward), CELLS["rnn_relu"].prepare),
}


def _layer(plain: Any) -> Any:
    def kernel(xp: Any, rows: Any, hx: Any, w_hh: Any, b_hh: Any, **how: Any) -> Any:
        if not floating(rows):
            return plain(xp, rows, hx, w_hh, b_hh, **how)
        bias = None if b_hh is None else ready(b_hh)
        return plain(xp, ready(rows), hx, ready(w_hh), bias, **how, cells=COMPILED)

    return kernel


def _layer_backward(plain: Any) -> Any:
    def kernel(
        xp: Any, grad_output: Any, grad_hn: Any, grad_reserve: Any, grad_cn: Any, hx: Any, w_hh: Any,
        reserve: Any, **how: Any,
    ) -> Any:  # fmt: skip
        # gradients of the gates come in derivatives of the second order alone
        cells = CELLS if grad_reserve is not None or not floating(reserve) else COMPILED
        out = None if grad_output is None else ready(grad_output)
        given = (grad_hn, grad_reserve, grad_cn, hx, ready(w_hh), ready(reserve))
        return plain(xp, out, *given, **how, cells=cells)

    return kernel


KERNELS = {"recurrent_layer": _layer, "recurrent_layer_backward": _layer_backward}
