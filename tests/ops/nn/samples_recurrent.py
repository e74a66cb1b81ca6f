"""Samples of recurrent layers, and one step of each."""

from __future__ import annotations

from typing import Any

from tests.ops.table import S, T

X = T(4, 2, 3)


def weights(gates: int, layers: int = 1, ways: int = 1, biased: bool = True, hidden: int = 2) -> list[Any]:
    """As many as the layers take, of inputs of 3."""
    found: list[Any] = []
    for layer in range(layers):
        for _ in range(ways):
            found += [T(gates * hidden, hidden * ways if layer else 3), T(gates * hidden, hidden)]
            found += [T(gates * hidden), T(gates * hidden)] if biased else []
    return found


def state(layers: int = 1) -> Any:
    return T(layers, 2, 2)


def packed(op: str, hx: Any, *how: Any) -> Any:
    """Three sequences of lengths 3, 2 and 2, as packed rows."""

    def spelled(torch: Any, x: Any, hx: Any, params: Any, *how: Any, batch_sizes: Any) -> Any:
        *how, _ = how
        return getattr(torch, op)(x, torch.tensor(batch_sizes), hx, params, *how)

    sample = S(T(7, 3), hx, *how, False, batch_sizes=[3, 3, 1])
    return sample.torch(spelled).no_graph()


def states(layers: int = 1) -> Any:
    return T(layers, 3, 2)


PROJECTED = [T(12, 3), T(12, 2), T(12), T(12), T(2, 3)]

SAMPLES = {
    "rnn_tanh": [
        S(X, state(), weights(1), True, 1, 0.0, False, False, False).no_graph(),
        S(X, state(4), weights(1, 2, 2, False), False, 2, 0.0, True, True, False).no_graph(),
        packed("rnn_tanh", states(), weights(1), True, 1, 0.0, False, False),
    ],
    "rnn_relu": [S(T(2, 4, 3), state(), weights(1), True, 1, 0.0, False, False, True).no_graph()],
    "gru": [
        S(X, state(), weights(3), True, 1, 0.0, False, False, False).no_graph(),
        S(T(2, 4, 3), state(2), weights(3, 1, 2), True, 1, 0.0, False, True, True).no_graph(),
        packed("gru", states(2), weights(3, 1, 2), True, 1, 0.0, False, True),
    ],
    "lstm": [
        S(X, [state(), state()], weights(4), True, 1, 0.0, False, False, False).no_graph(),
        S(X, [state(2), state(2)], weights(4, 2, 1, False), False, 2, 0.0, True, False, False).no_graph(),
        S(X, [T(1, 2, 2), T(1, 2, 3)], PROJECTED, True, 1, 0.0, False, False, False).no_graph(),
        packed("lstm", [states(2), states(2)], weights(4, 2, 1, False), False, 2, 0.0, True, False),
    ],
    "rnn_tanh_cell": [S(T(2, 3), T(2, 2), T(2, 3), T(2, 2), T(2), T(2)).no_graph()],
    "rnn_relu_cell": [S(T(2, 3), T(2, 2), T(2, 3), T(2, 2)).no_graph()],
    "gru_cell": [S(T(2, 3), T(2, 2), *weights(3)).dtypes("float32").no_graph()],
    "lstm_cell": [S(T(2, 3), [T(2, 2), T(2, 2)], *weights(4)).dtypes("float32").no_graph()],
}
