"""Samples of layer norm, and vectors to length one."""

from __future__ import annotations

from tests.ops.table import I, S, T

FLOATS = "float32 bfloat16 float16"

SAMPLES = {
    "nn.functional.layer_norm": [
        S(T(3, 4), [4], T(4), T(4)).dtypes(FLOATS),
        S(T(3, 4), [4]).dtypes(FLOATS),
        S(T(2, 3, 4), [3, 4], T(3, 4), eps=1e-3).dtypes(FLOATS),
        S(T(2, 4), [4], None, T(4)).dtypes(FLOATS),
        S(T(0, 4), [4], T(4), T(4)).dtypes("float32").no_grad(),
    ],
    "nn.functional.normalize": [
        S(T(3, 4)).dtypes("float32"),
        S(T(3, 4), 3.0, 0).dtypes("float32"),
        S(T(2, 3, 4), dim=2, eps=10.0).dtypes("float32"),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "nn.functional.layer_norm": [
        S(T(3, 4), [3]),
        S(T(3, 4), []),
        S(T(3, 4), [4], T(3)),
        S(T(3, 4), [4], T(4), T(3)),
        S(I((3, 4), 3), [4]),
        S(T(3, 4), [4], T(4, dtype="float32")),
    ],
}
