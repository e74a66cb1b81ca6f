"""Samples of margins between classes, and of Gaussian likelihoods."""

from __future__ import annotations

from tests.ops.table import I, S, T

SCORES, CLASSES = T(3, 4), I([0, 3, 1])
SETS = I([[0, 2, -1, 1], [3, -1, -1, -1], [-1, 0, 1, 2]])
SIGNS = T(3, 4, low=0, high=1, grad=False)
VAR = T(3, 4, low=0.2, high=2.0)
WEIGHTS = T(4, low=0.2, grad=False)

SAMPLES = {
    "nn.functional.multi_margin_loss": [
        S(SCORES, CLASSES).dtypes("float32").no_graph(),
        S(SCORES, CLASSES, 2, 0.5, WEIGHTS, reduction="sum").dtypes("float32").no_graph().no_second(),
        S(SCORES, CLASSES, reduction="none").dtypes("float32").no_graph(),
        S(T(4), I(2)).dtypes("float32").no_graph(),
    ],
    "nn.functional.multilabel_margin_loss": [
        S(SCORES, SETS).dtypes("float32").no_graph(),
        S(SCORES, SETS, reduction="none").dtypes("float32").no_graph(),
        S(T(4), I([1, 3, -1, 0])).dtypes("float32").no_graph(),
    ],
    "nn.functional.multilabel_soft_margin_loss": [
        S(SCORES, SIGNS).dtypes("float32 bfloat16").no_graph(),
        S(SCORES, SIGNS, WEIGHTS, reduction="none").dtypes("float32").no_graph(),
    ],
    "nn.functional.gaussian_nll_loss": [
        S(SCORES, T(3, 4), VAR).dtypes("float32").no_graph(),
        S(SCORES, T(3, 4), T(3, low=0.2), full=True, reduction="none").dtypes("float32").no_graph(),
        S(SCORES, T(3, 4), T(3, 1, low=1e-8, high=1e-7), eps=0.1, reduction="sum")
        .dtypes("float32")
        .no_graph()
        .kink(),
        S(SCORES, T(3, 4), 0.5).dtypes("float32").no_graph(),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.multi_margin_loss": [
        S(SCORES, I([0, 1])),
        S(SCORES, I([[0, 1, 2]])),
        S(SCORES, CLASSES, 3),
        S(SCORES, I([0, 1, 2], dtype="int32")),
        S(SCORES, CLASSES, weight=T(3)),
        S(SCORES, CLASSES, weight=T(4, dtype="float32")),
        S(T(2, 3, 4), I([0, 1])).no_values(),
        S(I((3, 4), 3), CLASSES),
    ],
    "nn.functional.multilabel_margin_loss": [
        S(SCORES, I([[0, 1, 2, 3]])),
        S(T(1, 3, 4), I((1, 3, 4), 3)),
        S(SCORES, I((3, 4), 3, dtype="int32")),
    ],
    "nn.functional.multilabel_soft_margin_loss": [S(SCORES, SIGNS, reduction="foo")],
    "nn.functional.gaussian_nll_loss": [
        S(SCORES, T(3, 4), T(2, 4, low=0.1)),
        S(SCORES, T(3, 4), -1.0),
        S(SCORES, T(3, 4), VAR, reduction="foo"),
    ],
}

#: calls that raise where there are values
VALUE_ERRORS = {
    "nn.functional.gaussian_nll_loss": [S(SCORES, T(3, 4), T(3, 4, low=-2.0, high=-1.0))],
    "nn.functional.multi_margin_loss": [S(SCORES, I([0, 1, 9])).no_values()],
}
