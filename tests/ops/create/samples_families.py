"""Samples of draws from distributions with parameters that are tensors."""

from __future__ import annotations

from tests.ops.table import I, S, T

SAMPLES = {
    "poisson": [S(T(2, 3, low=0.1)).no_values().dtypes("float32 bfloat16 float16")],
    "binomial": [
        S(T(2, 3, low=1.0, high=9.0, grad=False), T(3, low=0.1, high=0.9, grad=False))
        .no_values()
        .dtypes("float32")
    ],
    "_standard_gamma": [
        S(T(2, 3, low=0.1)).no_values().dtypes("float32").torch(lambda torch, a: torch._standard_gamma(a))
    ],
    "_sample_dirichlet": [
        S(T(2, 3, low=0.1))
        .no_values()
        .no_graph()
        .dtypes("float32")
        .torch(lambda torch, a: torch._sample_dirichlet(a))
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "poisson": [S(I(1, 2))],
    "binomial": [S(I(1, 2), T(1)), S(T(1), T(1, dtype="float32"))],
}
VALUE_ERRORS = {"poisson": [S(T(2, high=-0.1))]}
