"""Samples of tensors made from nothing, from ranges, and at random."""

from __future__ import annotations

from typing import Any

from gradd_engine.data.dtypes import bool_, complex64, float32, float64, int64

from tests.ops.table import I, S, T


def _method(name: str) -> Any:
    return lambda torch, x, *a, **k: getattr(x, name)(*a, **k)


def _ours(name: str) -> Any:
    return lambda x, *a, **k: getattr(x, name)(*a, **k)


def _new(name: str, *args: Any, **kw: Any) -> Any:
    return S(T(2, 3), *args, **kw).no_grad().torch(_method(name)).calls(_ours(name))


_TRIANGLES = [S(2, 3), S(3, 3, 1), S(4, 2, -1), S(3, 5, 2), S(2, 2, -5), S(2, 2, 7), S(0, 3), S(3, 0, 1)]

SAMPLES = {
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
    "arange": [
        S(5),
        S(5.0),
        S(1, 5),
        S(1, 6, 2),
        S(0, 1, 0.3),
        S(5, 0, -2),
        S(5, dtype=float64),
        S(True),
        S(start=1, end=3),
        S(3, 3),
        S(3.0, requires_grad=True),
    ],
    "linspace": [
        S(0, 1, 5),
        S(0, 1, 1),
        S(0, 1, 0),
        S(0, 10, 4, dtype=int64),
        S(-1.5, 2, 6, dtype=float64),
        S(0, 1j, 3),
    ],
    "logspace": [S(0, 2, 3), S(0, 3, 4, base=2), S(0, 1, 3, dtype=float64)],
    "eye": [S(2), S(2, 3), S(3, 2, dtype=int64), S(0)],
    "tril_indices": _TRIANGLES,
    "triu_indices": _TRIANGLES,
    "rand": [S(2, 3).no_values(), S((2,), dtype=float64).no_values(), S(2, dtype=complex64).no_values()],
    "randn": [
        S(2, 3).no_values(),
        S((2,), dtype=float64, requires_grad=True).no_values(),
        S(2, dtype=complex64).no_values(),
    ],
    "rand_like": [S(T(2, 3)).no_values().dtypes("float32 bfloat16 float16 int64")],
    "randn_like": [S(T(2, 3)).no_values().dtypes("float32 bfloat16 float16 int64")],
    "randint": [
        S(3, (2,)).no_values(),
        S(1, 3, (2, 2)).no_values(),
        S(0, 3, size=(2,), dtype=float32).no_values(),
    ],
    "randint_like": [
        S(T(2, 3), 3).no_values().dtypes("float32 int64"),
        S(T(2, 3), 1, 3).no_values().dtypes("int64"),
    ],
    "multinomial": [
        S(T(2, 4, low=0.1), 5, True).no_values().dtypes("float32"),
        S(T(4, low=0.1), 4).no_values().dtypes("float32"),
    ],
    "randperm": [S(4).no_values(), S(0).no_values(), S(4, dtype=float32).no_values()],
    "normal": [
        S(0.0, 1.0, (2, 3)).no_values(),
        S(T(2, 3), 1.0).no_values().no_graph(),
        S(T(2, 1), T(3, low=0.5)).no_values(),
    ],
    "bernoulli": [
        S(T(2, 3, low=0.1, high=0.9)).no_values().dtypes("float32 bfloat16 int64"),
        S(T(2, 3), 0.5).no_values(),
    ],
    "nn.functional.dropout": [
        S(T(2, 3), 0.5).no_values(),
        S(T(2, 3), 0.0).no_graph(),
        S(T(2, 3), 1.0),
        S(T(2, 3), 0.5, False).no_graph(),
    ],
    "dropout": [S(T(2, 3), 0.0, True).no_graph(), S(T(2, 3), 0.5, False).no_graph()],
    "nn.functional.dropout1d": [S(T(2, 3, 4), 0.5).no_values()],
    "nn.functional.dropout2d": [S(T(2, 3, 4, 4), 0.5).no_values()],
    "nn.functional.dropout3d": [S(T(2, 3, 2, 2, 2), 0.5).no_values()],
    "feature_dropout": [S(T(2, 3, 4), 0.5, True).no_values()],
    "nn.functional.alpha_dropout": [
        S(T(2, 3), 0.5, True).no_values(),
        S(T(2, 3), 0.5).no_graph(),
        S(T(2, 3), 1.0, True),
    ],
    "nn.functional.feature_alpha_dropout": [
        S(T(2, 3, 4), 0.5, True).no_values(),
        S(T(2, 3, 4), 0.5).no_graph(),
    ],
    "alpha_dropout": [S(T(2, 3), 0.5, True).no_values(), S(T(2, 3), 0.5, False).no_graph()],
    "feature_alpha_dropout": [S(T(2, 3, 4), 0.5, True).no_values(), S(T(2, 3), 0.0, True).no_graph()],
    "normal_": [S(T(2, 3)).no_values().calls(_ours("normal_"))],
    "uniform_": [S(T(2, 3), 1, 2).no_values().dtypes("float32 float16").calls(_ours("uniform_"))],
    "bernoulli_": [S(T(2, 3), 0.5).no_values().calls(_ours("bernoulli_"))],
    "exponential_": [S(T(2, 3)).no_values().dtypes("float32").calls(_ours("exponential_"))],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "multinomial": [S(T(3), 4), S(T(3), 0), S(T(2, 2, 2), 1)],
    "zeros": [S(-1), S(2, -3), S(), S(2.0), S(2, dtype=int64, requires_grad=True), S(2, device="nope")],
    "ones": [S(-1)],
    "empty": [S(-1)],
    "empty_strided": [S((2, 2), (4,)), S((2, 2), (-4, 1)), S((2, -2), (4, 1))],
    "feature_alpha_dropout": [S(T(2), 0.5, True), S(T(2, 3), 1.5, True)],
    "full": [S(2, 3), S((-1,), 3)],
    "arange": [S(5, 0), S(0, 5, 0), S(float("inf")), S(3, requires_grad=True)],
    "linspace": [S(0, 1, -1)],
    "eye": [S(-1), S(2, -1)],
    "tril_indices": [S(-1, 2)],
    "triu_indices": [S(2, -1)],
    "rand": [S(2, -1), S(2, dtype=int64)],
    "randn": [S(-1), S(2, dtype=int64)],
    "rand_like": [S(I(3, 4))],
    "randn_like": [S(I(3, 4))],
    "randint": [S(3, 3, (2,)), S(3, 1, (2,)), S(0, 3, (2,), requires_grad=True)],
    "randperm": [S(-1)],
    "normal": [S(0.0, -1.0, (2,))],
    "bernoulli": [S(T(2), 1.5)],
    "nn.functional.dropout": [S(T(2), 1.5), S(I(3, 4), 0.5)],
    "normal_": [S(T(2), 0, -1).calls(_ours("normal_")), S(I(2, 3)).calls(_ours("normal_"))],
    "uniform_": [S(T(2), 2, 1).calls(_ours("uniform_")), S(I(2, 3)).calls(_ours("uniform_"))],
    "bernoulli_": [S(T(2), 1.5).calls(_ours("bernoulli_"))],
    "exponential_": [S(T(2), -1).calls(_ours("exponential_"))],
}
