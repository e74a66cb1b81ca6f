"""Samples of Bessel functions and Airy's; PyTorch's J and Y are 3e-7 off around 5, so that is left out."""

from __future__ import annotations

from tests.ops.table import S, T, V

NAN, INF = float("nan"), float("inf")
_EDGES = V([0.0, INF, NAN], grad=False)


def _some(*extra: float) -> list:
    return [
        S(T(2, 3, low=0.1, high=1.9, grad=False)).no_grad().dtypes("float32 int64 bool"),
        S(V([0.3, 0.99, 1.0, 1.7, 25.0, 80.0, *extra], grad=False)).no_grad().dtypes("float32").tol(1e-9),
    ]


SAMPLES = {
    **{
        f"special.{name}": [*_some(-0.5, -1.5, -30.0), S(_EDGES).no_grad().dtypes("float32")]
        for name in (
            "bessel_j0",
            "bessel_j1",
            "modified_bessel_i0",
            "modified_bessel_i1",
            "spherical_bessel_j0",
        )
    },
    **{
        f"special.{name}": [*_some(-0.5), S(_EDGES).no_grad().dtypes("float32")]
        for name in (
            "bessel_y0",
            "bessel_y1",
            "modified_bessel_k0",
            "modified_bessel_k1",
            "scaled_modified_bessel_k0",
            "scaled_modified_bessel_k1",
        )
    },
    "special.airy_ai": [
        S(V([-30.0, -9.0, -3.5, -1.0, 0.0, 0.5, 3.0, 5.5, 7.0, 20.0, NAN], grad=False)).no_grad().tol(1e-9)
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {"special.bessel_j0": [S(T(2, dtype="float16")), S(T(2, dtype="complex64"))]}
