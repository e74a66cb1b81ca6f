"""One recurrent layer in one direction over all time steps, and its gradients.

The steps run one after the other: a matrix product of the state, then a *cell*, which makes the gates and the
next state of it. What the gates were is kept for the gradients. These need a product in each step too, but
those of the weight are one product over all steps, after the last.

Rows are of all steps, one below the other: `sizes` says how many each has, which may fall (packed sequences,
the longest first). Cells come in two sets: here on any array namespace, in `jit_recurrent` compiled.
Formulas: https://pytorch.org/docs/stable/nn.html#recurrent-layers
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class LayerShape(NamedTuple):
    """Numbers of a kind of layer, in multiples of the hidden size."""

    #: the states
    states: int
    #: the rows of the weight
    gates: int
    #: what is kept of a step
    kept: int


#: kept of an LSTM: the gates i, f, g, o and the next cell; of a GRU: r, z, n, what r scales, and the next
#: state; of the others: the next state
SHAPES = {
    "lstm": LayerShape(2, 4, 5),
    "gru": LayerShape(1, 3, 5),
    "rnn_tanh": LayerShape(1, 1, 1),
    "rnn_relu": LayerShape(1, 1, 1),
}


class Cell(NamedTuple):
    """A step of a kind of layer.

    ``forward(xp, rows, sums, bias, state, out, kept)`` adds the layer's input `rows` and the bias to the
    `sums`, the product of the state and the weight, and writes the next state, `out` and `kept`.

    ``backward(xp, kept, before, more, of_out, of_kept, of_state, slopes, inner)`` takes the gradients of what
    the step made and writes those of the state before, as far as they do not come by the sums, of the sums
    (`slopes`) and, for a GRU, of the rows (`inner`); `more` is from `prepare`. `of_out` and `of_kept` may be
    None.

    ``prepare(xp, kept)`` gives the states that all steps made, [rows, hidden] each, and what `backward` needs
    besides.
    """

    forward: Callable[..., None]
    backward: Callable[..., None]
    prepare: Callable[..., tuple[list[Any], Any]]


def order(sizes: Sequence[int], back: bool) -> list[tuple[int, int]]:
    """The first row and the number of rows of each step, as they run."""
    found, at = [], 0
    for many in sizes:
        found.append((at, many))
        at += many
    return found[::-1] if back else found


def run_layer(
    xp: Any,
    cells: Mapping[str, Cell],
    rows: Any,
    hx: Sequence[Any],
    w_hh: Any,
    b_hh: Any,
    kind: str,
    back: bool,
    kept: bool,
    sizes: Sequence[int],
) -> list[Any]:
    """The states after each row [rows, hidden], the last state, what is kept, then other last states."""
    forward, shape = cells[kind].forward, SHAPES[kind]
    batch, hidden = hx[0].shape
    total, width = rows.shape
    state = [xp.array(held, order="C") for held in hx]
    out = xp.empty((total, hidden), rows.dtype)
    reserve = xp.empty((total if kept else batch, shape.kept * hidden), rows.dtype)
    sums = xp.empty((batch, width), rows.dtype)
    bias = xp.zeros(width, rows.dtype) if b_hh is None else b_hh
    # products with a row-major factor are faster by more than the copy costs
    weight = xp.ascontiguousarray(w_hh.T) if len(sizes) > _FEW else w_hh.T
    for at, many in order(sizes, back):
        some, here = sums[:many], slice(at, at + many)
        now = [held[:many] for held in state]
        xp.matmul(now[0], weight, out=some)
        forward(xp, rows[here], some, bias, now, out[here], reserve[here] if kept else reserve[:many])
    return [out, state[0], reserve if kept else xp.empty(0, rows.dtype), *state[1:]]


#: steps for which no copy of the weight is made
_FEW = 4


def run_layer_backward(
    xp: Any,
    cells: Mapping[str, Cell],
    grads: Sequence[Any],
    hx: Sequence[Any],
    w_hh: Any,
    kept: Any,
    kind: str,
    back: bool,
    wanted: Sequence[bool],
    sizes: Sequence[int],
) -> list[Any]:
    """The `wanted` ones among the gradients of the rows, the states to begin with, the weight and the bias.

    `grads` are those of what `run_layer` gives, in its order; any may be None.
    """
    cell, shape = cells[kind], SHAPES[kind]
    of_out, of_last, of_kept, *of_more = grads
    batch, hidden = hx[0].shape
    total, dtype = kept.shape[0], kept.dtype
    steps = order(sizes, back)
    made, more = cell.prepare(xp, kept)
    before = [_before(xp, each, held, steps) for each, held in zip(made, hx, strict=True)]
    of_state = [
        xp.zeros((batch, hidden), dtype) if g is None else xp.array(g, order="C")
        for g in (of_last, *of_more, *[None] * (shape.states - 1 - len(of_more)))
    ]
    slopes = xp.empty((total, shape.gates * hidden), dtype)
    gated = kind == "gru"
    inner = xp.empty_like(slopes) if gated else slopes
    product = xp.empty((batch, hidden), dtype)
    for at, many in reversed(steps):
        here = slice(at, at + many)
        now = [g[:many] for g in of_state]
        cell.backward(
            xp, kept[here], [b[here] for b in before], None if more is None else more[here],
            None if of_out is None else of_out[here], None if of_kept is None else of_kept[here],
            now, slopes[here], inner[here],
        )  # fmt: skip
        if gated:
            xp.matmul(slopes[here], w_hh, out=product[:many])
            now[0] += product[:many]
        else:
            xp.matmul(slopes[here], w_hh, out=now[0])
    found: list[Any] = [inner] if wanted[0] else []
    found += of_state if wanted[1] else []
    found += [xp.matmul(slopes.T, before[0])] if wanted[2] else []
    return found + ([slopes.sum(axis=0)] if wanted[3] else [])


def _before(xp: Any, made: Any, first: Any, steps: Sequence[tuple[int, int]]) -> Any:
    """The states before each row: those that the step before made, or the first where it had no such row."""
    found = xp.empty(made.shape, made.dtype)
    batch = first.shape[0]
    if steps[0][1] == steps[-1][1]:
        if steps[0][0] == 0:
            found[:batch], found[batch:] = first, made[:-batch]
        else:
            found[-batch:], found[:-batch] = first, made[batch:]
        return found
    last, had = 0, 0
    for at, many in steps:
        both = min(had, many)
        found[at : at + both] = made[last : last + both]
        found[at + both : at + many] = first[both:many]
        last, had = at, many
    return found


# -- cells on any array namespace ------------------------------------------------------------------


def _parts(a: Any, count: int) -> list[Any]:
    """The columns of `a` in `count` equal parts, as views."""
    width = a.shape[1] // count
    return [a[:, i * width : (i + 1) * width] for i in range(count)]


def _logistic(xp: Any, a: Any) -> Any:
    one = a.dtype.type(1)
    return one / (one + xp.exp(-a))


def _added(g: Any, more: Any) -> Any:
    return g if more is None else g + more


def _lstm(xp: Any, rows: Any, sums: Any, bias: Any, state: Any, out: Any, kept: Any) -> None:
    h, c = state
    sums += rows
    sums += bias
    into, forget, new, gate = _parts(sums, 4)
    i, f, g, o, cell = _parts(kept, 5)
    i[...], f[...], o[...] = _logistic(xp, into), _logistic(xp, forget), _logistic(xp, gate)
    g[...] = xp.tanh(new)
    cell[...] = f * c + i * g
    c[...] = cell
    h[...] = out[...] = o * xp.tanh(cell)


def _lstm_made(xp: Any, kept: Any) -> tuple[list[Any], Any]:
    _, _, _, o, c = _parts(kept, 5)
    top = xp.tanh(c)
    return [o * top, c], top


def _lstm_backward(
    xp: Any, kept: Any, before: Any, more: Any, of_out: Any, of_kept: Any, of_state: Any, slopes: Any,
    inner: Any,
) -> None:  # fmt: skip
    i, f, g, o, _ = _parts(kept, 5)
    of_i, of_f, of_g, of_o, of_c = [None] * 5 if of_kept is None else _parts(of_kept, 5)
    to_i, to_f, to_g, to_o = _parts(slopes, 4)
    one = kept.dtype.type(1)
    d = _added(of_state[0], of_out)
    dc = _added(of_state[1] + d * o * (one - more * more), of_c)
    to_i[...] = _added(dc * g, of_i) * ((one - i) * i)
    to_f[...] = _added(dc * before[1], of_f) * ((one - f) * f)
    to_g[...] = _added(dc * i, of_g) * (one - g * g)
    to_o[...] = _added(d * more, of_o) * ((one - o) * o)
    of_state[1][...] = dc * f


def _gru(xp: Any, rows: Any, sums: Any, bias: Any, state: Any, out: Any, kept: Any) -> None:
    (h,) = state
    sums += bias
    x_r, x_z, x_n = _parts(rows, 3)
    h_r, h_z, h_n = _parts(sums, 3)
    r, z, n, q, new = _parts(kept, 5)
    q[...] = h_n
    r[...], z[...] = _logistic(xp, x_r + h_r), _logistic(xp, x_z + h_z)
    n[...] = xp.tanh(x_n + q * r)
    new[...] = (h - n) * z + n
    h[...] = out[...] = new


def _last_part(xp: Any, kept: Any) -> tuple[list[Any], Any]:
    return [kept[:, -(kept.shape[1] // SHAPES["gru"].kept) :]], None


def _gru_backward(
    xp: Any, kept: Any, before: Any, more: Any, of_out: Any, of_kept: Any, of_state: Any, slopes: Any,
    inner: Any,
) -> None:  # fmt: skip
    r, z, n, q, _ = _parts(kept, 5)
    of_r, of_z, of_n, of_q, of_h = [None] * 5 if of_kept is None else _parts(of_kept, 5)
    to_r, to_z, to_n = _parts(inner, 3)
    one = kept.dtype.type(1)
    d = _added(_added(of_state[0], of_out), of_h)
    to_n[...] = _added(d * (one - z), of_n) * (one - n * n)
    to_r[...] = _added(to_n * q, of_r) * ((one - r) * r)
    to_z[...] = _added(d * (before[0] - n), of_z) * ((one - z) * z)
    slopes[...] = inner
    _parts(slopes, 3)[2][...] = _added(to_n * r, of_q)
    of_state[0][...] = d * z


def _whole(xp: Any, kept: Any) -> tuple[list[Any], Any]:
    return [kept], None


def _tanh(xp: Any, rows: Any, sums: Any, bias: Any, state: Any, out: Any, kept: Any) -> None:
    sums += rows
    sums += bias
    state[0][...] = out[...] = kept[...] = xp.tanh(sums)


def _tanh_backward(
    xp: Any, kept: Any, before: Any, more: Any, of_out: Any, of_kept: Any, of_state: Any, slopes: Any,
    inner: Any,
) -> None:  # fmt: skip
    d = _added(_added(of_state[0], of_out), of_kept)
    slopes[...] = d * (kept.dtype.type(1) - kept * kept)


def _relu(xp: Any, rows: Any, sums: Any, bias: Any, state: Any, out: Any, kept: Any) -> None:
    sums += rows
    sums += bias
    state[0][...] = out[...] = kept[...] = xp.maximum(sums, sums.dtype.type(0))


def _relu_backward(
    xp: Any, kept: Any, before: Any, more: Any, of_out: Any, of_kept: Any, of_state: Any, slopes: Any,
    inner: Any,
) -> None:  # fmt: skip
    d = _added(_added(of_state[0], of_out), of_kept)
    slopes[...] = xp.where(kept <= 0, kept.dtype.type(0), d)


CELLS: dict[str, Cell] = {
    "lstm": Cell(_lstm, _lstm_backward, _lstm_made),
    "gru": Cell(_gru, _gru_backward, _last_part),
    "rnn_tanh": Cell(_tanh, _tanh_backward, _whole),
    "rnn_relu": Cell(_relu, _relu_backward, _whole),
}
