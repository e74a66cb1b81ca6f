"""Samples of hash_tensor."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

SAMPLES = {
    "hash_tensor": [
        S(T(2, 3, grad=False)).dtypes("float32 float16 bfloat16 int64"),
        S(T(2, 3, 5, grad=False), [0, -1], keepdim=True),
        S(T(2, 0, grad=False), 0).dtypes("float32 int64"),
        S(I([[1, -2], [3, 4]]), 1),
        S(I([7, -200], dtype="int16")),
        S(V(3.0, grad=False)),
    ],
}

ERRORS = {
    "hash_tensor": [
        S(T(2, 0, grad=False)),
        S(T(2, 0, grad=False), 1),
        S(T(2, grad=False), mode=1),
        S(T(2, dtype="complex128", grad=False)),
    ],
}
