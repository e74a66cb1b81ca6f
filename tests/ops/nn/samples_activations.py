"""Samples of rectifiers and smooth units; kinks are where the oracle's choice is compared."""

from __future__ import annotations

from tests.ops.makers import in_place, unit
from tests.ops.table import I, S, T, V

SAMPLES = {
    "relu": [*unit(0.0), S(I([1, -2]))],
    "nn.functional.leaky_relu": [*unit(0.0), S(T(4), 0.3)],
    "threshold": [
        S(T(2, 3), 0.1, 5.0),
        S(T(2, 3), threshold=0.1, value=-1),
        S(V([0.1, 0.2]), 0.1, 9.0).kink(),
    ],
    "prelu": [
        S(T(2, 3, 4), T(3)).no_graph(),
        S(T(2, 3), T(1)),
        S(T(4), T(1)),
        S(T(4), T()),
        S(V([0.0, 1.0]), V([0.5])).kink(),
        S(T(2, 3), T(2)).fails(),
    ],
    "nn.functional.elu": [*unit(0.0), S(T(4), 0.5), S(V([0.0]), 2.0).kink()],
    "selu": unit(0.0),
    "celu": [*unit(0.0), S(T(4), 0.5), S(V([0.0]), 2.0).kink()],
    "nn.functional.silu": unit(),
    "nn.functional.gelu": [*unit(), S(T(2, 3), approximate="tanh"), S(T(2), approximate="x").fails()],
    **{
        name: [S(T(3, grad=False), *((0.1, 5.0) if name == "threshold_" else ())).no_grad()]
        for name in ("relu_", "threshold_", "selu_", "celu_")
    },
    **{f"nn.functional.{name}": [in_place(name)] for name in ("leaky_relu_", "elu_", "silu_")},
}
