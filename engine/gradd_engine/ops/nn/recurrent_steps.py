"""Steps of recurrent layers in recorded ops, and over a sequence: values, gradients and tangents.

They are what the kernels of kernels/recurrent.py compute, for derivatives of these, vmap, and whatever they
are not made for. A step's pieces are what is kept of it, in the order of `SHAPES` there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...kernels import SHAPES
from ...schema import named
from ..elementwise import sigmoid, tanh
from .activations import threshold_backward

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    #: from the layer's input, the states and the product of the first with the weight: next states, pieces
    Step = Callable[[Any, Sequence[Any], Callable[[Any], Any]], tuple[list[Any], list[Any]]]


def _added(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else named.add(a, b)


# -- steps -----------------------------------------------------------------------------------------


def _lstm(inner: Any, state: Sequence[Any], recur: Callable[[Any], Any]) -> tuple[list[Any], list[Any]]:
    h, c = state
    into, forget, cell, out = named.add(recur(h), inner).chunk(4, -1)
    i, f, g, o = sigmoid(into), sigmoid(forget), tanh(cell), sigmoid(out)
    c = named.add(named.mul(f, c), named.mul(i, g))
    return [named.mul(o, tanh(c)), c], [i, f, g, o, c]


def _gru(inner: Any, state: Sequence[Any], recur: Callable[[Any], Any]) -> tuple[list[Any], list[Any]]:
    (h,) = state
    x_r, x_z, x_n = inner.chunk(3, -1)
    h_r, h_z, h_n = recur(h).chunk(3, -1)
    r, z = sigmoid(named.add(h_r, x_r)), sigmoid(named.add(h_z, x_z))
    n = tanh(named.add(x_n, named.mul(h_n, r)))
    new = named.add(named.mul(named.sub(h, n), z), n)
    return [new], [r, z, n, h_n, new]


def _tanh(inner: Any, state: Sequence[Any], recur: Callable[[Any], Any]) -> tuple[list[Any], list[Any]]:
    new = tanh(named.add(recur(state[0]), inner))
    return [new], [new]


def _relu(inner: Any, state: Sequence[Any], recur: Callable[[Any], Any]) -> tuple[list[Any], list[Any]]:
    new = named.relu(named.add(recur(state[0]), inner))
    return [new], [new]


STEPS: dict[str, Step] = {"lstm": _lstm, "gru": _gru, "rnn_tanh": _tanh, "rnn_relu": _relu}


def _made(kind: str, pieces: Sequence[Any]) -> list[Any]:
    """The states that a step made."""
    if kind != "lstm":
        return [pieces[-1]]
    *_, o, c = pieces
    return [named.mul(o, tanh(c)), c]


# -- over time -------------------------------------------------------------------------------------


def _by_step(rows: Any, sizes: Sequence[int] | None) -> tuple[Any, ...]:
    """What a layer takes or gives, for each step: [L, N, features], or packed rows with `sizes` of a step."""
    return tuple(rows.unbind(0) if sizes is None else rows.split(list(sizes)))


def _joined(found: Sequence[Any], sizes: Sequence[int] | None) -> Any:
    """The inverse of `_by_step`."""
    return named.stack(list(found)) if sizes is None else named.cat(list(found))


def _ordered(count: int, back: bool) -> list[int]:
    return list(reversed(range(count))) if back else list(range(count))


def _first(whole: Any, many: int) -> Any:
    """The states of the sequences that have a step: the first `many`."""
    return whole if whole.shape[0] == many else whole.narrow(0, 0, many)


def _with_first(whole: Any, part: Any) -> Any:
    """`whole` with `part` in place of its first rows."""
    many, rest = part.shape[0], whole.shape[0] - part.shape[0]
    return named.cat([part, whole.narrow(0, many, rest)]) if rest else part


def walk(
    step: Step,
    rows: Any,
    hx: Sequence[Any],
    recur: Callable[[Any], Any],
    back: bool,
    sizes: Sequence[int] | None,
) -> tuple[Any, list[Any], list[list[Any]]]:
    """The outputs of all steps, the last states, and the pieces of each step.

    Of packed rows, a sequence that has ended keeps its state, and backward one that has not begun its first.
    """
    given = _by_step(rows, sizes)
    state, outs = list(hx), [None] * len(given)
    pieces: list[list[Any]] = [[]] * len(given)
    for at in _ordered(len(given), back):
        now = [_first(held, given[at].shape[0]) for held in state]
        made, pieces[at] = step(given[at], now, recur)
        outs[at] = made[0]
        state = [_with_first(held, part) for held, part in zip(state, made, strict=True)]
    return _joined(outs, sizes), state, pieces


def layer(
    rows: Any, hx: Sequence[Any], w_hh: Any, b_hh: Any, kind: str, back: bool, kept: bool, batch_sizes: Any
) -> list[Any]:
    """`recurrent_layer`."""
    recur = _recurrence(w_hh, b_hh)
    out, (h, *more), pieces = walk(STEPS[kind], rows, hx, recur, back, batch_sizes)
    if kept:
        reserve = _joined([named.cat(some, -1) for some in pieces], batch_sizes)
    else:
        reserve = named.zeros([0], dtype=rows.dtype)
    return [out, h, reserve, *more]


def _recurrence(w_hh: Any, b_hh: Any) -> Callable[[Any], Any]:
    return lambda h: named.linear(h, w_hh, b_hh)


class _Past:
    """What was kept of a layer's steps, and the states before each."""

    def __init__(self, kind: str, reserve: Any, hx: Sequence[Any], back: bool, sizes: Any) -> None:
        self._kind, self._hx = kind, hx
        self.pieces = [part.chunk(SHAPES[kind].kept, -1) for part in _by_step(reserve, sizes)]
        self.order = _ordered(len(self.pieces), back)
        self.many = [some[0].shape[0] for some in self.pieces]
        self._made = [_made(kind, some) for some in self.pieces]

    def before(self, turn: int) -> list[Any]:
        """The states that the step that ran as number `turn` began with."""
        many = self.many[self.order[turn]]
        if not turn:
            return [_first(held, many) for held in self._hx]
        last = self._made[self.order[turn - 1]]
        had = last[0].shape[0]
        if had >= many:
            return [_first(made, many) for made in last]
        return [
            named.cat([made, held.narrow(0, had, many - had)])
            for made, held in zip(last, self._hx, strict=True)
        ]


# -- gradients -------------------------------------------------------------------------------------


def _slope(s: Any) -> Any:
    """The derivative of the logistic function where it is `s`."""
    return named.mul(named.rsub(s, 1), s)


def _steep(t: Any) -> Any:
    """The derivative of tanh where it is `t`."""
    return named.rsub(named.mul(t, t), 1)


def _lstm_back(pieces: Any, before: Any, d: Any, of_pieces: Any) -> tuple[Any, Any, list[Any]]:
    i, f, g, o, c = pieces
    of_i, of_f, of_g, of_o, of_c = of_pieces
    top = tanh(c)
    dc = _added(named.add(d[1], named.mul(named.mul(d[0], o), _steep(top))), of_c)
    slopes = [
        named.mul(_added(named.mul(dc, g), of_i), _slope(i)),
        named.mul(_added(named.mul(dc, before[1]), of_f), _slope(f)),
        named.mul(_added(named.mul(dc, i), of_g), _steep(g)),
        named.mul(_added(named.mul(d[0], top), of_o), _slope(o)),
    ]
    both = named.cat(slopes, -1)
    return both, both, [None, named.mul(dc, f)]


def _gru_back(pieces: Any, before: Any, d: Any, of_pieces: Any) -> tuple[Any, Any, list[Any]]:
    r, z, n, q, _ = pieces
    of_r, of_z, of_n, of_q, of_h = of_pieces
    dh = _added(d[0], of_h)
    to_n = named.mul(_added(named.mul(dh, named.rsub(z, 1)), of_n), _steep(n))
    to_r = named.mul(_added(named.mul(to_n, q), of_r), _slope(r))
    to_z = named.mul(_added(named.mul(dh, named.sub(before[0], n)), of_z), _slope(z))
    to_q = _added(named.mul(to_n, r), of_q)
    return named.cat([to_r, to_z, to_n], -1), named.cat([to_r, to_z, to_q], -1), [named.mul(dh, z)]


def _tanh_back(pieces: Any, before: Any, d: Any, of_pieces: Any) -> tuple[Any, Any, list[Any]]:
    both = named.mul(_added(d[0], of_pieces[0]), _steep(pieces[0]))
    return both, both, [None]


def _relu_back(pieces: Any, before: Any, d: Any, of_pieces: Any) -> tuple[Any, Any, list[Any]]:
    both = threshold_backward(_added(d[0], of_pieces[0]), pieces[0], 0)
    return both, both, [None]


#: from the pieces, the states before, their gradients and those of the pieces: the gradients of the layer's
#: input, of the product and of the states before, as far as they do not come by the product
_BACK: dict[str, Callable[..., tuple[Any, Any, list[Any]]]] = {
    "lstm": _lstm_back,
    "gru": _gru_back,
    "rnn_tanh": _tanh_back,
    "rnn_relu": _relu_back,
}


def layer_backward(
    grad_output: Any,
    grad_hn: Any,
    grad_reserve: Any,
    grad_cn: Any,
    hx: Sequence[Any],
    w_hh: Any,
    reserve: Any,
    kind: str,
    back: bool,
    wanted: Sequence[bool],
    batch_sizes: Any,
) -> list[Any]:
    """`recurrent_layer_backward`."""
    past = _Past(kind, reserve, hx, back, batch_sizes)
    count, shape = len(past.pieces), SHAPES[kind]
    of_out = None if grad_output is None else _by_step(grad_output, batch_sizes)
    of_kept = None if grad_reserve is None else _by_step(grad_reserve, batch_sizes)
    ends = [grad_hn, grad_cn][: shape.states]
    d = [named.zeros_like(held) if g is None else g for g, held in zip(ends, hx, strict=True)]
    inner, slopes, states = [None] * count, [None] * count, [None] * count
    for turn in reversed(range(count)):
        at = past.order[turn]
        now = [_first(g, past.many[at]) for g in d]
        now[0] = now[0] if of_out is None else named.add(now[0], of_out[at])
        of_pieces = [None] * shape.kept if of_kept is None else of_kept[at].chunk(shape.kept, -1)
        before = past.before(turn)
        states[at] = before[0]
        inner[at], slopes[at], rest = _BACK[kind](past.pieces[at], before, now, of_pieces)
        rest[0] = _added(named.matmul(slopes[at], w_hh), rest[0])
        d = [_with_first(whole, part) for whole, part in zip(d, rest, strict=True)]
    found = [_joined(inner, batch_sizes)] if wanted[0] else []
    found += d if wanted[1] else []
    if wanted[2]:
        found.append(named.matmul(named.cat(slopes).t(), named.cat(states)))
    if wanted[3]:
        found.append(named.cat(slopes).sum(0))
    return found


# -- tangents --------------------------------------------------------------------------------------


def _lstm_tangent(pieces: Any, before: Any, before_t: Any, inner: Any, sums: Any) -> tuple[Any, ...]:
    i, f, g, o, c = pieces
    into, forget, cell, gate = named.add(inner, sums).chunk(4, -1)
    i_t, f_t = named.mul(into, _slope(i)), named.mul(forget, _slope(f))
    g_t, o_t = named.mul(cell, _steep(g)), named.mul(gate, _slope(o))
    kept = named.add(named.mul(f_t, before[1]), named.mul(f, before_t[1]))
    c_t = named.add(kept, named.add(named.mul(i_t, g), named.mul(i, g_t)))
    top = tanh(c)
    h_t = named.add(named.mul(o_t, top), named.mul(named.mul(o, _steep(top)), c_t))
    return [h_t, c_t], [i_t, f_t, g_t, o_t, c_t]


def _gru_tangent(pieces: Any, before: Any, before_t: Any, inner: Any, sums: Any) -> tuple[Any, ...]:
    r, z, n, q, _ = pieces
    x_r, x_z, x_n = inner.chunk(3, -1)
    h_r, h_z, q_t = sums.chunk(3, -1)
    r_t, z_t = named.mul(named.add(x_r, h_r), _slope(r)), named.mul(named.add(x_z, h_z), _slope(z))
    within = named.add(named.mul(q_t, r), named.mul(q, r_t))
    n_t = named.mul(named.add(x_n, within), _steep(n))
    away = named.mul(named.sub(before_t[0], n_t), z)
    h_t = named.add(named.add(away, named.mul(named.sub(before[0], n), z_t)), n_t)
    return [h_t], [r_t, z_t, n_t, q_t, h_t]


def _tanh_tangent(pieces: Any, before: Any, before_t: Any, inner: Any, sums: Any) -> tuple[Any, ...]:
    h_t = named.mul(named.add(inner, sums), _steep(pieces[0]))
    return [h_t], [h_t]


def _relu_tangent(pieces: Any, before: Any, before_t: Any, inner: Any, sums: Any) -> tuple[Any, ...]:
    h_t = threshold_backward(named.add(inner, sums), pieces[0], 0)
    return [h_t], [h_t]


_TANGENTS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "lstm": _lstm_tangent,
    "gru": _gru_tangent,
    "rnn_tanh": _tanh_tangent,
    "rnn_relu": _relu_tangent,
}


def layer_tangent(
    rows: Any,
    rows_t: Any,
    hx: Sequence[Any],
    hx_t: Sequence[Any],
    w_hh: Any,
    w_hh_t: Any,
    b_hh_t: Any,
    reserve: Any,
    kind: str,
    back: bool,
    batch_sizes: Any,
) -> list[Any]:
    """The tangents of what `recurrent_layer` gives."""
    past = _Past(kind, reserve, hx, back, batch_sizes)
    given = _by_step(named.zeros_like(rows) if rows_t is None else rows_t, batch_sizes)
    state = [named.zeros_like(x) if t is None else t for x, t in zip(hx, hx_t, strict=True)]
    outs, kept = [None] * len(given), [None] * len(given)
    for turn, at in enumerate(past.order):
        before = past.before(turn)
        before_t = [_first(t, past.many[at]) for t in state]
        sums = named.linear(before_t[0], w_hh, b_hh_t)
        if w_hh_t is not None:
            sums = named.add(sums, named.linear(before[0], w_hh_t))
        made, pieces = _TANGENTS[kind](past.pieces[at], before, before_t, given[at], sums)
        outs[at], kept[at] = made[0], named.cat(pieces, -1)
        state = [_with_first(whole, part) for whole, part in zip(state, made, strict=True)]
    return [_joined(outs, batch_sizes), state[0], _joined(kept, batch_sizes), *state[1:]]
