"""Samples of activation functions; kinks are where the oracle's choice is compared."""

from __future__ import annotations

from tests.ops.table import I, S, Sample, T, V

NAN = float("nan")


def _unit(*kinks: float, high: float = 3.0) -> list[Sample]:
    """Random points, large ones, none, and the kinks."""
    some = [S(T(2, 3)), S(T(6, low=-high, high=high)), S(T()), S(V([-40.0, 40.0])).dtypes("float32")]
    return [*some, S(V([*kinks, NAN])).kink().dtypes("float32")] if kinks else some


def _in_place(name: str) -> Sample:
    """The in-place form, which is the oracle's with ``inplace=True``."""
    return (
        S(T(3, grad=False))
        .no_grad()
        .dtypes("float32 bfloat16")
        .torch(lambda torch, x: getattr(torch.nn.functional, name.rstrip("_"))(x, inplace=True))
    )


SAMPLES = {
    "relu": [*_unit(0.0), S(I([1, -2]))],
    "nn.functional.leaky_relu": [*_unit(0.0), S(T(4), 0.3)],
    "threshold": [
        S(T(2, 3), 0.1, 5.0),
        S(T(2, 3), threshold=0.1, value=-1),
        S(V([0.1, 0.2]), 0.1, 9.0).kink(),
    ],
    "prelu": [
        S(T(2, 3, 4), T(3)).no_graph(),
        S(T(2, 3), T(1)),
        S(T(4), T(1)),
        S(T(4), T()),
        S(V([0.0, 1.0]), V([0.5])).kink(),
        S(T(2, 3), T(2)).fails(),
    ],
    "nn.functional.elu": [*_unit(0.0), S(T(4), 0.5), S(V([0.0]), 2.0).kink()],
    "selu": _unit(0.0),
    "celu": [*_unit(0.0), S(T(4), 0.5), S(V([0.0]), 2.0).kink()],
    "nn.functional.silu": [s.dtypes("float32 bfloat16 float16 int64 bool") for s in _unit()],
    "nn.functional.gelu": [*_unit(), S(T(2, 3), approximate="tanh"), S(T(2), approximate="x").fails()],
    "nn.functional.softplus": [*_unit(), S(T(2, 3), 2.0, 1.0), S(T(2, 3), beta=0.5)],
    "nn.functional.mish": _unit(),
    "nn.functional.logsigmoid": _unit(),
    "nn.functional.softsign": [S(T(2, 3)), S(V([0.0])).kink()],
    "nn.functional.tanhshrink": [S(T(2, 3))],
    "nn.functional.softshrink": [*_unit(-0.5, 0.5), S(T(2, 3), 0.2)],
    "nn.functional.hardshrink": [*_unit(-0.5, 0.5), S(T(2, 3), 0.2)],
    "nn.functional.hardtanh": [*_unit(-1.0, 1.0), S(T(2, 3), -0.2, 0.3), S(I([-3, 0, 3]))],
    "nn.functional.relu6": [*_unit(0.0, 6.0, high=9.0), S(I([-3, 0, 8]))],
    "nn.functional.hardsigmoid": _unit(-3.0, 3.0, high=6.0),
    "nn.functional.hardswish": _unit(-3.0, 3.0, high=6.0),
    "nn.functional.glu": [S(T(2, 4)), S(T(4, 3), 0), S(T(2, 6, 2), dim=1), S(T(3)).fails(), S(T()).fails()],
    **{
        name: [S(T(3, grad=False), *((0.1, 5.0) if name == "threshold_" else ())).no_grad()]
        for name in ("relu_", "threshold_", "selu_", "celu_")
    },
    **{
        f"nn.functional.{name}": [_in_place(name)]
        for name in (
            "leaky_relu_",
            "elu_",
            "silu_",
            "mish_",
            "hardtanh_",
            "relu6_",
            "hardsigmoid_",
            "hardswish_",
        )
    },
}
