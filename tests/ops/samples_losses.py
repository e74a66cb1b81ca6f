"""Samples of losses."""

from __future__ import annotations

from typing import Any

from tests.ops.table import I, S, Sample, T, V

FLOATS = "float32 bfloat16 float16"


def reductions(*args: Any, **attrs: Any) -> list[Sample]:
    """A sample for each reduction."""
    return [S(*args, reduction=r, **attrs).dtypes(FLOATS) for r in ("mean", "sum", "none")]


PROBABILITIES = T(4, 3, low=0.05, high=0.95)
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
    "nn.functional.binary_cross_entropy": [
        *reductions(PROBABILITIES, PROBABILITIES),
        S(PROBABILITIES, PROBABILITIES, WEIGHTS).dtypes("float32"),
        S(V([0.0, 1.0], grad=False), V([1.0, 1.0], grad=False)).dtypes("float32"),
    ],
    "nn.functional.binary_cross_entropy_with_logits": [
        *reductions(T(4, 3), PROBABILITIES),
        *reductions(T(4, 3), PROBABILITIES, WEIGHTS, pos_weight=WEIGHTS),
        S(V([400.0, -400.0]), V([1.0, 0.0], grad=False)).dtypes("float32").no_second(),
    ],
    "nn.functional.kl_div": [
        S(T(4, 3), PROBABILITIES, reduction="batchmean").dtypes("float32"),
        S(T(4, 3), PROBABILITIES, reduction="sum").dtypes("float32"),
        S(T(4, 3), T(4, 3), reduction="none", log_target=True).dtypes("float32"),
    ],
}

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
    "nn.functional.mse_loss": [
        S(I((2, 3), 3), I((2, 3), 3)),
        S(T(2), T(2), reduction="k"),
        S(T(2), T(2), weight=T(3)),
    ],
    "nn.functional.smooth_l1_loss": [S(T(2), T(2), beta=-1.0)],
    "nn.functional.huber_loss": [S(T(2), T(2), delta=0.0)],
    "nn.functional.binary_cross_entropy": [
        S(PROBABILITIES, T(4, 1)),
        S(PROBABILITIES, I((4, 3), 2)),
        S(PROBABILITIES, T(4, 3, dtype="float32")),
    ],
    "nn.functional.binary_cross_entropy_with_logits": [S(T(4, 3), T(4, 1)), S(T(4, 3), T(4, 3), T(4))],
}
