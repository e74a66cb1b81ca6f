"""Samples of losses between an input and a target of one shape."""

from __future__ import annotations

from tests.ops.makers import reductions
from tests.ops.table import I, S, T

FLOATS = "float32 bfloat16 float16"

SAMPLES = {
    "nn.functional.mse_loss": [
        *reductions(T(2, 3), T(2, 3)),
        S(T(2, 3), T(2, 3), weight=T(2, 3)).dtypes(FLOATS),
        S(T(2, 3), I((2, 3), 3)).dtypes(FLOATS),
        S(T(), T()).dtypes(FLOATS),
        S(T(0), T(0)).dtypes(FLOATS).no_grad(),
    ],
    "nn.functional.l1_loss": [
        *reductions(T(2, 3), T(2, 3)),
        S(T(2, 3), T(2, 3), weight=T(2, 3)).dtypes(FLOATS),
    ],
    "nn.functional.smooth_l1_loss": [
        *reductions(T(2, 3), T(2, 3)),
        S(T(2, 3), T(2, 3), beta=0.4).dtypes(FLOATS),
        S(T(2, 3), T(2, 3), beta=0.0).dtypes(FLOATS),
    ],
    "nn.functional.huber_loss": [
        *reductions(T(2, 3), T(2, 3)),
        S(T(2, 3), T(2, 3), delta=0.4).dtypes(FLOATS),
        S(T(2, 3), T(2, 3), delta=2.0, weight=T(2, 3)).dtypes(FLOATS),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.mse_loss": [
        S(I((2, 3), 3), I((2, 3), 3)),
        S(T(2), T(2), reduction="k"),
        S(T(2), T(2), weight=T(3)),
    ],
    "nn.functional.smooth_l1_loss": [S(T(2), T(2), beta=-1.0)],
    "nn.functional.huber_loss": [S(T(2), T(2), delta=0.0)],
}
