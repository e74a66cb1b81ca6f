"""Samples of overwriting."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

SAMPLES = {
    "copy": [
        S(T(2, 3), T(3)).torch(lambda torch, a, b: a.clone().copy_(b)).no_graph().complex_too(),
        S(T(2, 3), I(3, 4)).torch(lambda torch, a, b: a.clone().copy_(b)).no_graph(),
    ],
    "fill_": [S(T(2, 3, grad=False), 2.5).no_grad()],
    "zero_": [S(T(2, 3, grad=False)).no_grad()],
    "fill": [S(T(2, 3), 2.5).no_graph(), S(T(2, 3), T()).no_graph()],
    "zero": [S(T(2, 3)).torch(lambda torch, a: a.clone().zero_()).no_graph()],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "fill": [S(T(2), V([1.0]))],
}
