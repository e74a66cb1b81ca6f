"""Samples of instance norm."""

from __future__ import annotations

from tests.ops.makers import RUNNING
from tests.ops.table import I, S, T

FLOATS = "float32 bfloat16 float16"
IMAGE = T(3, 4, 2, 3)

SAMPLES = {
    "nn.functional.instance_norm": [
        S(IMAGE).dtypes(FLOATS),
        S(IMAGE, weight=T(4), bias=T(4), eps=1e-2).dtypes(FLOATS),
        S(T(2, 4, 3), weight=T(4), momentum=0.3, **RUNNING).dtypes("float32"),
        S(IMAGE, weight=T(4), bias=T(4), use_input_stats=False, **RUNNING).dtypes(FLOATS),
    ],
    "instance_norm": [
        S(IMAGE, T(4), None, None, None, True, 0.1, 1e-5, False).dtypes("float32"),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.instance_norm": [
        S(T(2, 4)),
        S(T(2, 4, 1)),
        S(T(3), use_input_stats=False),
        S(IMAGE, use_input_stats=False),
        S(IMAGE, weight=T(2)),
        S(IMAGE, T(2), T(4)),
        S(I((3, 4, 2), 3)),
    ],
}
