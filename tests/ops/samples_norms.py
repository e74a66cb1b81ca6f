"""Samples of normalisations."""

from __future__ import annotations

from typing import Any

from tests.ops.table import I, S, T

FLOATS = "float32 bfloat16 float16"
IMAGE = T(3, 4, 2, 3)
CHANNELS = (T(4), T(4))
RUNNING: dict[str, Any] = {
    "running_mean": T(4, grad=False),
    "running_var": T(4, low=0.5, high=2.0, grad=False),
}

SAMPLES = {
    "nn.functional.layer_norm": [
        S(T(3, 4), [4], T(4), T(4)).dtypes(FLOATS),
        S(T(3, 4), [4]).dtypes(FLOATS),
        S(T(2, 3, 4), [3, 4], T(3, 4), eps=1e-3).dtypes(FLOATS),
        S(T(2, 4), [4], None, T(4)).dtypes(FLOATS),
        S(T(0, 4), [4], T(4), T(4)).dtypes("float32").no_grad(),
    ],
    "nn.functional.group_norm": [
        S(IMAGE, 2, *CHANNELS).dtypes(FLOATS),
        S(IMAGE, 4).dtypes(FLOATS),
        S(T(3, 4), 2, T(4)).dtypes(FLOATS),
        S(T(2, 4, 3), 1, *CHANNELS, eps=1e-2).dtypes(FLOATS),
    ],
    "nn.functional.batch_norm": [
        S(IMAGE, None, None, *CHANNELS, training=True).dtypes(FLOATS),
        S(T(5, 4), None, None, training=True).dtypes(FLOATS),
        S(T(2, 4, 3), None, None, T(4), training=True, eps=1e-2).dtypes(FLOATS),
        S(IMAGE, weight=T(4), bias=T(4), training=True, momentum=0.3, **RUNNING).dtypes("float32"),
        S(IMAGE, weight=T(4), bias=T(4), **RUNNING).dtypes(FLOATS),
        S(T(5, 4), **RUNNING).dtypes(FLOATS),
    ],
    "nn.functional.instance_norm": [
        S(IMAGE).dtypes(FLOATS),
        S(IMAGE, weight=T(4), bias=T(4), eps=1e-2).dtypes(FLOATS),
        S(T(2, 4, 3), weight=T(4), momentum=0.3, **RUNNING).dtypes("float32"),
        S(IMAGE, weight=T(4), bias=T(4), use_input_stats=False, **RUNNING).dtypes(FLOATS),
    ],
    "instance_norm": [
        S(IMAGE, T(4), None, None, None, True, 0.1, 1e-5, False).dtypes("float32"),
    ],
    "nn.functional.rms_norm": [
        S(T(3, 4), [4], T(4)).dtypes(FLOATS),
        S(T(3, 4), [4], eps=1e-3).dtypes(FLOATS),
        S(T(2, 3, 4), [3, 4]).dtypes("float32"),
    ],
    "nn.functional.normalize": [
        S(T(3, 4)).dtypes("float32"),
        S(T(3, 4), 3.0, 0).dtypes("float32"),
        S(T(2, 3, 4), dim=2, eps=10.0).dtypes("float32"),
    ],
}

ERRORS = {
    "nn.functional.layer_norm": [
        S(T(3, 4), [3]),
        S(T(3, 4), []),
        S(T(3, 4), [4], T(3)),
        S(T(3, 4), [4], T(4), T(3)),
        S(I((3, 4), 3), [4]),
        S(T(3, 4), [4], T(4, dtype="float32")),
    ],
    "nn.functional.group_norm": [
        S(IMAGE, 3),
        S(IMAGE, 2, T(2)),
        S(T(4), 2),
        S(T(1, 4, 1, 1), 4),
    ],
    "nn.functional.batch_norm": [
        S(T(1, 4, 1, 1), None, None, training=True),
        S(IMAGE, T(2, grad=False), T(4, grad=False), training=True),
        S(IMAGE, None, None),
        S(IMAGE, T(4), T(4), T(2)),
        S(IMAGE, T(4), T(4), None, T(3)),
        S(IMAGE, T(4), T(3)),
        S(I((3, 4), 3), I((4,), 3), I((4,), 3)),
    ],
    "nn.functional.instance_norm": [
        S(T(2, 4)),
        S(T(2, 4, 1)),
        S(T(3), use_input_stats=False),
        S(IMAGE, use_input_stats=False),
        S(IMAGE, weight=T(2)),
        S(IMAGE, T(2), T(4)),
        S(I((3, 4, 2), 3)),
    ],
    "nn.functional.rms_norm": [
        S(T(3, 4), [3]),
        S(T(3, 4), []),
        S(T(3, 4), [4], T(3)),
        S(I((3, 4), 3), [4]),
    ],
}
