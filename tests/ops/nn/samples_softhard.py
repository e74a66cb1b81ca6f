"""Samples of soft and hard activation functions; kinks are where the oracle's choice is compared."""

from __future__ import annotations

from tests.ops.makers import in_place, unit
from tests.ops.table import I, S, T, V

SAMPLES = {
    "nn.functional.softplus": [*unit(), S(T(2, 3), 2.0, 1.0), S(T(2, 3), beta=0.5)],
    "nn.functional.mish": unit(),
    "nn.functional.logsigmoid": unit(),
    "nn.functional.softsign": [S(T(2, 3)), S(V([0.0])).kink()],
    "nn.functional.tanhshrink": [S(T(2, 3))],
    "nn.functional.softshrink": [*unit(-0.5, 0.5), S(T(2, 3), 0.2)],
    "nn.functional.hardshrink": [*unit(-0.5, 0.5), S(T(2, 3), 0.2)],
    "nn.functional.hardtanh": [*unit(-1.0, 1.0), S(T(2, 3), -0.2, 0.3), S(I([-3, 0, 3]))],
    "nn.functional.relu6": [*unit(0.0, 6.0, high=9.0), S(I([-3, 0, 8]))],
    "nn.functional.hardsigmoid": unit(-3.0, 3.0, high=6.0),
    "nn.functional.hardswish": unit(-3.0, 3.0, high=6.0),
    "nn.functional.glu": [S(T(2, 4)), S(T(4, 3), 0), S(T(2, 6, 2), dim=1), S(T(3)).fails(), S(T()).fails()],
    **{
        f"nn.functional.{name}": [in_place(name)]
        for name in ("mish_", "hardtanh_", "relu6_", "hardsigmoid_", "hardswish_")
    },
}
