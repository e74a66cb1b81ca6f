"""Samples of tensors that are overwritten with numbers of a distribution."""

from __future__ import annotations

from tests.ops.makers import by_method
from tests.ops.table import I, S, T

SAMPLES = {
    "random_": [
        S(T(2, 3)).no_values().dtypes("float32 float16 bfloat16 int64 bool").calls(by_method("random_")),
        S(I(2, 9), 5).no_values().calls(by_method("random_")),
        S(I(2, 9), -3, 5).no_values().calls(by_method("random_")),
    ],
    "cauchy_": [S(T(2, 3), 1.0, 2.0).no_values().dtypes("float32").calls(by_method("cauchy_"))],
    "log_normal_": [S(T(2, 3)).no_values().dtypes("float32").calls(by_method("log_normal_"))],
    "geometric_": [S(T(2, 3), 0.3).no_values().dtypes("float32 int64").calls(by_method("geometric_"))],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "random_": [S(T(2), 3, 3).calls(by_method("random_"))],
    "cauchy_": [S(T(2), 0.0, -1.0).calls(by_method("cauchy_")), S(I(2, 3)).calls(by_method("cauchy_"))],
    "log_normal_": [
        S(T(2), 0.0, -1.0).calls(by_method("log_normal_")),
        S(I(2, 3)).calls(by_method("log_normal_")),
    ],
    "geometric_": [S(T(2), 1.0).calls(by_method("geometric_"))],
}
