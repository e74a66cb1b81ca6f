"""Recurrent layers: RNN, LSTM and GRU over sequences, and their single steps.

A layer in one direction is one product of its inputs and one op for all steps. Where its state is projected,
or numbers are no real ones of 32 or 64 bits, it is composed of the ops of its steps, as PyTorch's are.

With `batch_sizes`, the input is packed: (total, features), with so many rows at each step, as PyTorch's is.
A layer's weights are in torch.nn's order: w_ih, w_hh, then any biases b_ih, b_hh, then w_hr if an LSTM
projects its state. Source: https://pytorch.org/docs/stable/nn.html#recurrent-layers
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...declare import composite
from ...schema import named
from .dropout import dropout
from .recurrent_layer import REALS, check_sizes, keeps, recurrent_layer, takes
from .recurrent_steps import STEPS, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _projecting(project: Any) -> Any:
    """Steps of an LSTM whose next state is projected: it keeps no gates."""

    def step(inner: Any, state: Sequence[Any], recur: Callable[[Any], Any]) -> Any:
        (h, c), _ = STEPS["lstm"](inner, state, recur)
        return [named.matmul(h, project.t()), c], []

    return step


def _one_way(
    kind: str,
    x: Any,
    state: list[Any],
    weights: Sequence[Any],
    biased: bool,
    back: bool,
    sizes: list[int] | None,
) -> Any:
    """One layer in one direction: the outputs of all steps and the last state."""
    w_ih, w_hh = weights[:2]
    b_ih, b_hh = weights[2:4] if biased else (None, None)
    projected = len(weights) > (4 if biased else 2)
    joins = kind != "gru" and w_hh.dtype in REALS
    if joins and b_ih is not None and b_hh is not None and b_ih.shape == b_hh.shape:
        # one addition, and one sum for both gradients; a GRU scales what part of b_hh is added to
        b_ih, b_hh = None, named.add(b_ih, b_hh)
    rows = named.linear(x, w_ih, b_ih)
    given = (rows, state, w_hh, b_hh)
    if not projected and takes(kind, *given, sizes):
        how: dict[str, Any] = {"kind": kind, "back": back, "kept": keeps(*given), "batch_sizes": sizes}
        out, h, _, *more = recurrent_layer(*given, **how)
        return out, [h, *more]
    step = _projecting(weights[-1]) if projected else STEPS[kind]
    out, last, _ = walk(step, rows, state, lambda h: named.linear(h, w_hh, b_hh), back, sizes)
    return out, last


def _checked(batch_sizes: Sequence[int], input: Any, hx: Sequence[Any]) -> list[int]:
    """The rows of each step; RuntimeError unless they fall from the states' number to no less than 1."""
    sizes = list(batch_sizes)
    for held in hx:
        check_sizes(sizes, held.shape[1] if held.dim() == 3 else 0)
    if input.dim() != 2 or input.shape[0] != sum(sizes):
        raise RuntimeError(
            f"packed input must have {sum(sizes)} rows, as batch_sizes say, but got {list(input.shape)}"
        )
    return sizes


def _layers(
    kind: str,
    input: Any,
    hx: Sequence[Any],
    params: Sequence[Any],
    has_biases: bool,
    num_layers: int,
    dropout_p: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
    batch_sizes: Sequence[int] | None,
) -> tuple[Any, ...]:
    sizes = None if batch_sizes is None else _checked(batch_sizes, input, hx)
    batch_first = batch_first and sizes is None
    ways = 2 if bidirectional else 1
    each = len(params) // (num_layers * ways)
    x = input.transpose(0, 1) if batch_first else input
    states = list(zip(*(held.unbind(0) for held in hx), strict=True))
    last: list[list[Any]] = []
    for layer in range(num_layers):
        outs = []
        for way in range(ways):
            at = layer * ways + way
            weights = params[at * each : (at + 1) * each]
            out, state = _one_way(kind, x, list(states[at]), weights, has_biases, way == 1, sizes)
            outs.append(out)
            last.append(state)
        x = named.cat(outs, -1) if bidirectional else outs[0]
        if dropout_p and train and layer < num_layers - 1:
            x = dropout(x, dropout_p, True)
    ends = tuple(named.stack(list(held)) for held in zip(*last, strict=True))
    return (x.transpose(0, 1) if batch_first else x, *ends)


_HOW = (
    "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, "
    "bool batch_first, int[]? batch_sizes=None"
)


def _over_one(kind: str) -> Callable[..., Any]:
    def run(input: Any, hx: Any, params: Any, has_biases: bool, num_layers: int, **how: Any) -> Any:
        p = how.pop("dropout")
        return _layers(kind, input, [hx], params, has_biases, num_layers, p, **how)

    return run


def _lstm(input: Any, hx: Any, params: Any, has_biases: bool, num_layers: int, **how: Any) -> Any:
    if len(hx) != 2:
        raise RuntimeError("lstm expects two hidden states")
    p = how.pop("dropout")
    return _layers("lstm", input, hx, params, has_biases, num_layers, p, **how)


for _kind, _what in (("rnn_tanh", "tanh"), ("rnn_relu", "relu")):
    composite(
        f"{_kind}(Tensor input, Tensor hx, {_HOW}) -> (Tensor output, Tensor hn)",
        body=_over_one(_kind),
        autocast={"cuda": "lower"},
        doc=f"An Elman network with {_what} over a sequence: all outputs and the last state (torch.{_kind}).",
    )
gru = composite(
    f"gru(Tensor input, Tensor hx, {_HOW}) -> (Tensor output, Tensor hn)",
    body=_over_one("gru"),
    autocast={"cuda": "lower"},
    doc="A gated recurrent unit over a sequence: all outputs and the last state (torch.gru).",
)
lstm = composite(
    f"lstm(Tensor input, Tensor[] hx, {_HOW}) -> (Tensor output, Tensor hn, Tensor cn)",
    body=_lstm,
    autocast="lower",
    doc="Long short-term memory over a sequence: all outputs, the last state and cell (torch.lstm).",
)


def _check_cell(input: Any, states: Sequence[Any], w_ih: Any, w_hh: Any) -> None:
    """Raise PyTorch's RuntimeError unless an input and its states fit the weights of a cell."""
    if input.shape[-1] != w_ih.shape[-1]:
        raise RuntimeError(
            f"input has inconsistent input_size: got {input.shape[-1]} expected {w_ih.shape[-1]}"
        )
    for i, state in enumerate(states):
        if state.shape[0] != input.shape[0]:
            raise RuntimeError(
                f"Input batch size {input.shape[0]} doesn't match hidden{i} batch size {state.shape[0]}"
            )
        if state.shape[-1] != w_hh.shape[-1]:
            raise RuntimeError(
                f"hidden{i} has inconsistent hidden_size: got {state.shape[-1]}, expected {w_hh.shape[-1]}"
            )


def _cell(kind: str) -> Callable[..., Any]:
    def run(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
        state = list(hx) if kind == "lstm" else [hx]
        _check_cell(input, state, w_ih, w_hh)
        made, _ = STEPS[kind](named.linear(input, w_ih, b_ih), state, lambda h: named.linear(h, w_hh, b_hh))
        return tuple(made) if kind == "lstm" else made[0]

    return run


_CELL = "Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None"
for _kind in ("rnn_tanh", "rnn_relu", "gru"):
    composite(
        f"{_kind}_cell(Tensor input, Tensor hx, {_CELL}) -> Tensor",
        body=_cell(_kind),
        autocast={"cuda": "lower"},
        doc=f"One step of a recurrent layer: the next state (torch.{_kind}_cell).",
    )
lstm_cell = composite(
    f"lstm_cell(Tensor input, Tensor[] hx, {_CELL}) -> (Tensor h, Tensor c)",
    body=_cell("lstm"),
    autocast={"cuda": "lower"},
    doc="One step of an LSTM: the next state and cell (torch.lstm_cell).",
)
