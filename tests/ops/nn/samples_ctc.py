"""Samples of connectionist temporal classification; its gradient is that for logits, as the oracle's."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.table import I, S, Sample, T, V

_RAW = np.random.default_rng(3).normal(size=(6, 2, 4))
LOGS = V(_RAW - np.log(np.exp(_RAW).sum(-1, keepdims=True)))
TARGETS, STEPS, LENGTHS = I([[1, 2, 2], [3, 1, 0]]), I([6, 5]), I([3, 2])
ROW = V(np.asarray(LOGS.values)[:, 0])


def sample(*args: Any, **attrs: Any) -> Sample:
    """In float32 too."""
    return S(*args, **attrs).dtypes("float32").no_graph().kink().no_jvp().no_second()


SAMPLES = {
    "nn.functional.ctc_loss": [
        sample(LOGS, TARGETS, STEPS, LENGTHS),
        # PyTorch takes targets in a row for contiguous
        sample(LOGS, I([1, 2, 2, 3, 1]), STEPS, LENGTHS, reduction="sum").no_layouts(),
        sample(LOGS, TARGETS, (6, 5), (3, 2), reduction="none"),
        sample(LOGS, TARGETS, STEPS, I([0, 2]), reduction="none"),
        sample(LOGS, I([[1, 0, 0], [3, 1, 0]]), STEPS, I([1, 2]), blank=2),
        sample(LOGS, TARGETS, I([2, 5]), LENGTHS, zero_infinity=True),
        sample(LOGS, TARGETS, I([2, 5]), LENGTHS, reduction="none"),
        sample(LOGS, TARGETS, I([0, 5]), I([0, 2]), reduction="none"),
        sample(ROW, I([1, 2, 2]), I(6), I(3)),
        sample(ROW, I([1, 2, 2], dtype="int32"), (6,), (3,), reduction="none"),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.ctc_loss": [
        S(LOGS, TARGETS, STEPS, LENGTHS, 9),
        S(LOGS, TARGETS, I([6]), LENGTHS),
        S(LOGS, TARGETS, STEPS, I([3])),
        S(LOGS, TARGETS, T(2, grad=False), LENGTHS),
        S(LOGS, TARGETS, STEPS, LENGTHS, reduction="foo"),
        S(T(6, 2, 4, dtype="float16"), TARGETS, STEPS, LENGTHS),
    ],
}

#: calls that raise where there are values
VALUE_ERRORS = {
    "nn.functional.ctc_loss": [
        S(LOGS, TARGETS, I([15, 5]), LENGTHS),
        S(LOGS, TARGETS, STEPS, I([3, 9])).no_values(),
        S(LOGS, I([1, 2, 2]), STEPS, LENGTHS),
    ],
}
