"""Samples of negative log likelihood and cross entropy."""

from __future__ import annotations

from tests.ops.makers import reductions
from tests.ops.table import I, S, T

FLOATS = "float32 bfloat16 float16"
WEIGHTS = T(3, low=0.2, high=1.0, grad=False)
SPATIAL = (T(2, 3, 2, 4), I((2, 2, 4), 3))

SAMPLES = {
    "nn.functional.cross_entropy": [
        *reductions(T(4, 3), I([0, 2, 1, 2])),
        *reductions(T(4, 3), I([0, -100, 1, 2]), WEIGHTS, label_smoothing=0.1),
        S(T(4, 3), I([0, 1, 1, 2]), ignore_index=1, label_smoothing=0.2).dtypes(FLOATS),
        S(T(3), I(2)).dtypes(FLOATS),
        *reductions(*SPATIAL),
        S(*SPATIAL, WEIGHTS, label_smoothing=0.1).dtypes("float32").no_layouts(),
        S(T(2, 3, 5), I((2, 5), 3)).dtypes("float32").no_layouts(),
        S(T(2, 3, 5), I((2, 5), 3), reduction="none").dtypes("float32").no_layouts(),
        S(T(2, 3, 2, 2, 2), I((2, 2, 2, 2), 3)).dtypes("float32").no_layouts(),
        *reductions(T(4, 3), T(4, 3, low=0.1)),
        *reductions(T(4, 3), T(4, 3, low=0.1, grad=False), WEIGHTS, label_smoothing=0.3),
        S(T(4, 3), I([-100] * 4)).dtypes(FLOATS).no_grad(),
        S(T(0, 3), I((0,), 3)).dtypes(FLOATS).no_grad(),
        S(T(2, 3), I([0, 2], dtype="uint8")).dtypes(FLOATS),
    ],
    "nn.functional.nll_loss": [
        *reductions(T(4, 3), I([0, 2, 1, 2])),
        *reductions(T(4, 3), I([0, -100, 1, 2]), WEIGHTS),
        *(s.no_layouts() for s in reductions(*SPATIAL, WEIGHTS)),
        S(T(2, 3, 5), I((2, 5), 3), reduction="none").dtypes("float32").no_layouts(),
        S(T(3), I(2)).dtypes(FLOATS),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.cross_entropy": [
        S(T(3, 4), I([0, 1])),
        S(T(3, 4), T(3)),
        S(T(3, 4), I((3, 1), 3)),
        S(T(3, 4), I(1)),
        S(T(3, 4), I([0, 1, 2], dtype="int32")),
        S(T(3, 4), I([0, 1, 2]), T(3)),
        S(T(3, 4), I([0, 1, 2]), T(4, dtype="float32")),
        S(T(3, 4), I([0, 1, 2]), reduction="foo"),
        S(T(3, 4), I([0, 1, 2]), label_smoothing=2.0),
        S(T(3, 4), T(3, 5)),
        S(I((3, 4), 3), I([0, 1, 2])),
        S(T(3, 4), T(3, 4), ignore_index=2),
        S(T(3, 4), T(3, 4), T(3)),
        S(T(2, 3, 4, 4), I((2, 4, 3), 3)),
        S(T(2, 3, 4, 4), I((2, 4), 3)),
        S(T(2, 3, 4, 4), I((3, 4, 4), 3)),
        S(T(2, 3, 4), I((2, 5), 3)),
    ],
    "nn.functional.nll_loss": [
        S(T(), I(0)),
        S(T(3, 4), T(3)),
        S(T(3, 4), I([0, 1])),
        S(I((3, 4), 3), I([0, 1, 2])),
        S(T(3), I([0, 1, 2])),
    ],
}
