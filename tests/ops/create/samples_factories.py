"""Samples of tensors made of sizes, values and other tensors' geometry."""

from __future__ import annotations

from typing import Any

from gradd_engine.data.dtypes import bool_, float32, float64, int64

from tests.ops.makers import by_method
from tests.ops.table import I, S, T


def _method(name: str) -> Any:
    return lambda torch, x, *a, **k: getattr(x, name)(*a, **k)


def _new(name: str, *args: Any, **kw: Any) -> Any:
    return S(T(2, 3), *args, **kw).no_grad().torch(_method(name)).calls(by_method(name))


SAMPLES = {
    "empty_permuted": [S((2, 3, 4), (1, 2, 0)).no_values(), S((), ()).no_values()],
    "zeros": [
        S(2, 3),
        S((2, 3)),
        S([2]),
        S(()),
        S(2, dtype=int64),
        S(size=(2,)),
        S(2, requires_grad=True, device="cpu"),
    ],
    "ones": [S(2, 3), S((2, 3), dtype=bool_)],
    "empty_strided": [
        S((2, 3), (4, 1)).no_values(),
        S((2, 2), (1, 2), dtype=int64).no_values(),
        S((2, 0), (3, 1)),
    ],
    "empty": [S(2, 3).no_values(), S((2,), dtype=int64).no_values()],
    "full": [
        S((2,), 3),
        S((2,), 3.0),
        S((2,), True),
        S((2,), 1j),
        S([2], 3, dtype=float64),
        S((2,), T(grad=False)).dtypes(""),
    ],
    "scalar_tensor": [S(2), S(2, dtype=int64)],
    "zeros_like": [
        S(T(2, 3)).no_grad(),
        S(T(2, 3), dtype=int64).no_grad(),
        S(T(2), requires_grad=True).no_grad().dtypes("float32"),
    ],
    "ones_like": [S(T(2, 3)).no_grad(), S(T(2, 3), dtype=float32).no_grad()],
    "empty_like": [S(T(2, 3)).no_values()],
    "full_like": [S(T(2, 3), 1.5).no_grad(), S(I(3, 2), 1.5)],
    "new_zeros": [_new("new_zeros", 3), _new("new_zeros", (3,), dtype=int64), _new("new_zeros", 3, 4)],
    "new_ones": [_new("new_ones", 3), _new("new_ones", (3, 2), requires_grad=True).dtypes("float32")],
    "new_empty": [_new("new_empty", 3).no_values()],
    "new_full": [_new("new_full", (2,), 1.5)],
    "new_tensor": [_new("new_tensor", [1, 2]), _new("new_tensor", [1.5, 2], dtype=float32)],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "empty_permuted": [S((2, 3), (0,)), S((2, 3), (1, 1))],
    "zeros": [S(-1), S(2, -3), S(), S(2.0), S(2, dtype=int64, requires_grad=True), S(2, device="nope")],
    "ones": [S(-1)],
    "empty": [S(-1)],
    "empty_strided": [S((2, 2), (4,)), S((2, 2), (-4, 1)), S((2, -2), (4, 1))],
    "full": [S(2, 3), S((-1,), 3)],
}
