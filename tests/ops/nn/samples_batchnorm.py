"""Samples of batch norm."""

from __future__ import annotations

from tests.ops.makers import RUNNING
from tests.ops.table import I, S, T

FLOATS = "float32 bfloat16 float16"
IMAGE = T(3, 4, 2, 3)
CHANNELS = (T(4), T(4))

SAMPLES = {
    "nn.functional.batch_norm": [
        S(IMAGE, None, None, *CHANNELS, training=True).dtypes(FLOATS),
        S(T(5, 4), None, None, training=True).dtypes(FLOATS),
        S(T(2, 4, 3), None, None, T(4), training=True, eps=1e-2).dtypes(FLOATS),
        S(IMAGE, weight=T(4), bias=T(4), training=True, momentum=0.3, **RUNNING).dtypes("float32"),
        S(IMAGE, weight=T(4), bias=T(4), **RUNNING).dtypes(FLOATS),
        S(T(5, 4), **RUNNING).dtypes(FLOATS),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.batch_norm": [
        S(T(1, 4, 1, 1), None, None, training=True),
        S(IMAGE, T(2, grad=False), T(4, grad=False), training=True),
        S(IMAGE, None, None),
        S(IMAGE, T(4), T(4), T(2)),
        S(IMAGE, T(4), T(4), None, T(3)),
        S(IMAGE, T(4), T(3)),
        S(I((3, 4), 3), I((4,), 3), I((4,), 3)),
    ],
}
