"""Samples of tensors made at random, and of those that are overwritten so."""

from __future__ import annotations

from gradd_engine.data.dtypes import complex64, float32, float64, int64

from tests.ops.makers import by_method
from tests.ops.table import I, S, T

SAMPLES = {
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
    "normal_": [S(T(2, 3)).no_values().calls(by_method("normal_"))],
    "uniform_": [S(T(2, 3), 1, 2).no_values().dtypes("float32 float16").calls(by_method("uniform_"))],
    "bernoulli_": [S(T(2, 3), 0.5).no_values().calls(by_method("bernoulli_"))],
    "exponential_": [S(T(2, 3)).no_values().dtypes("float32").calls(by_method("exponential_"))],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "rand": [S(2, -1), S(2, dtype=int64)],
    "randn": [S(-1), S(2, dtype=int64)],
    "rand_like": [S(I(3, 4))],
    "randn_like": [S(I(3, 4))],
    "randint": [S(3, 3, (2,)), S(3, 1, (2,)), S(0, 3, (2,), requires_grad=True)],
    "randperm": [S(-1)],
    "normal": [S(0.0, -1.0, (2,))],
    "bernoulli": [S(T(2), 1.5)],
    "normal_": [S(T(2), 0, -1).calls(by_method("normal_")), S(I(2, 3)).calls(by_method("normal_"))],
    "uniform_": [S(T(2), 2, 1).calls(by_method("uniform_")), S(I(2, 3)).calls(by_method("uniform_"))],
    "bernoulli_": [S(T(2), 1.5).calls(by_method("bernoulli_"))],
    "exponential_": [S(T(2), -1).calls(by_method("exponential_"))],
}
