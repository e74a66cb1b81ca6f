"""Samples of local responses, bilinear maps and activations that draw."""

from __future__ import annotations

from tests.ops.table import I, S, T

FLOATS = "float32 bfloat16"
MAPS = T(2, 4, 5)

SAMPLES = {
    "nn.functional.local_response_norm": [
        S(T(2, 5, 3), 2).dtypes("float32").no_graph(),
        S(T(2, 5, 3, 4), 3, 0.3, 0.6, 2.0).dtypes("float32").no_graph(),
        S(T(1, 4, 2, 3, 2), 5, alpha=0.2).dtypes("float32").no_graph().no_layouts(),
    ],
    "nn.functional.bilinear": [
        S(T(3, 4), T(3, 5), MAPS).dtypes(f"{FLOATS} int64").no_graph(),
        S(T(2, 3, 4), T(2, 3, 5), MAPS, T(2)).dtypes("float32").no_graph(),
        S(T(4), T(5), MAPS).dtypes("float32").no_graph(),
    ],
    "nn.functional.gumbel_softmax": [
        S(T(3, 4)).dtypes(FLOATS).no_values(),
        S(T(3, 4), 0.5, True, dim=0).dtypes("float32").no_values(),
    ],
    "rrelu_": [S(T(3, 4, grad=False)).no_grad().dtypes("")],
    "nn.functional.rrelu_": [S(T(3, 4, grad=False)).no_grad()],
    "nn.functional.rrelu": [
        S(T(3, 4)).dtypes("float32").no_graph().no_layouts(),
        S(T(3, 4), 0.1, 0.3, True).dtypes("float32").no_values().no_layouts(),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.local_response_norm": [S(T(3, 4), 2)],
    "nn.functional.bilinear": [
        S(T(3, 4), T(2, 5), MAPS),
        S(T(3, 4), T(3, 5), T(2, 3, 5)),
        S(T(3, 4), T(3, 5), T(2, 4, 4)),
        S(T(3, 4), T(3, 5), MAPS, T(3)),
        S(T(3, 4), T(1, 3, 5), MAPS),
    ],
    "nn.functional.rrelu": [S(T(3), 0.5, 0.1), S(I((3,), 3)).no_values()],
}
