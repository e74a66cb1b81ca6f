"""Samples of binary cross entropies and the divergence of distributions."""

from __future__ import annotations

from tests.ops.makers import reductions
from tests.ops.table import I, S, T, V

PROBABILITIES = T(4, 3, low=0.05, high=0.95)
WEIGHTS = T(3, low=0.2, high=1.0, grad=False)

SAMPLES = {
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

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.binary_cross_entropy": [
        S(PROBABILITIES, T(4, 1)),
        S(PROBABILITIES, I((4, 3), 2)),
        S(PROBABILITIES, T(4, 3, dtype="float32")),
    ],
    "nn.functional.binary_cross_entropy_with_logits": [S(T(4, 3), T(4, 1)), S(T(4, 3), T(4, 3), T(4))],
}
