"""Activations with their gradients and the error function, element-wise in one pass."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .arrays import FEW, alike, binary, by_pieces, ready, unary
from .gauss import DENSITY, NEAR
from .maths import erf_parts, exp_sum, normal
from .native import REAL, compiled, wide

_BETA = math.sqrt(2.0 / math.pi)
_CUBIC = 0.044715


# -- gelu ------------------------------------------------------------------------------------------


@compiled(1, 1)
def _gelu(a: Any, out: Any) -> None:
    wide()
    for i in range(a.size):
        below, _ = normal(a[i])
        out[i] = a[i] * below


@compiled(1, 1, 1)
def _gelu_backward(g: Any, a: Any, out: Any) -> None:
    wide()
    number = a.dtype.type
    for i in range(a.size):
        x = a[i]
        below, bell = normal(x)
        out[i] = g[i] * (below + x * bell * number(DENSITY))


@compiled(1, 1)
def _gelu_tanh(a: Any, out: Any) -> None:
    # (1 + tanh(y)) / 2 is the logistic function of 2 y
    wide()
    number = a.dtype.type
    one, zero = number(1), number(0)
    for i in range(a.size):
        x = a[i]
        y = x * (number(2 * _BETA) + number(2 * _BETA * _CUBIC) * (x * x))
        out[i] = x * (one / (one + exp_sum(-y, zero)))


@compiled(1, 1, 1)
def _gelu_tanh_backward(g: Any, a: Any, out: Any) -> None:
    wide()
    number = a.dtype.type
    one, zero = number(1), number(0)
    for i in range(a.size):
        x = a[i]
        square = x * x
        y = x * (number(2 * _BETA) + number(2 * _BETA * _CUBIC) * square)
        s = one / (one + exp_sum(-y, zero))
        steep = x * (number(2 * _BETA) + number(6 * _BETA * _CUBIC) * square)
        out[i] = g[i] * (s + s * (one - s) * steep)


def _of_gelu(exact: Any, by_tanh: Any) -> Any:
    def native(plain: Any) -> Any:
        kernels = {"none": exact(plain), "tanh": by_tanh(plain)}
        return lambda xp, *arrays, approximate: kernels[approximate](xp, *arrays)

    return native


def _with(take: Any, fn: Any, **attrs: Any) -> Any:
    """`unary` or `binary` for a plain kernel that takes attributes."""
    return lambda plain: take(fn)(lambda xp, *arrays: plain(xp, *arrays, **attrs))


# -- sigmoid and its kin -------------------------------------------------------------------------------


@compiled(1, 1)
def _sigmoid(a: Any, out: Any) -> None:
    wide()
    one, zero = a.dtype.type(1), a.dtype.type(0)
    for i in range(a.size):
        out[i] = one / (one + exp_sum(-a[i], zero))


@compiled(1, 1)
def _silu(a: Any, out: Any) -> None:
    wide()
    one, zero = a.dtype.type(1), a.dtype.type(0)
    for i in range(a.size):
        out[i] = a[i] * (one / (one + exp_sum(-a[i], zero)))


@compiled(1, 1, 1)
def _silu_backward(g: Any, a: Any, out: Any) -> None:
    wide()
    one, zero = a.dtype.type(1), a.dtype.type(0)
    for i in range(a.size):
        s = one / (one + exp_sum(-a[i], zero))
        out[i] = g[i] * (s * (one + a[i] * (one - s)))


@compiled(1, 1, 1)
def _sigmoid_backward(g: Any, result: Any, out: Any) -> None:
    one = g.dtype.type(1)
    for i in range(g.size):
        out[i] = g[i] * ((one - result[i]) * result[i])


@compiled(1, 1, 1)
def _tanh_backward(g: Any, result: Any, out: Any) -> None:
    one = g.dtype.type(1)
    for i in range(g.size):
        out[i] = g[i] * (one - result[i] * result[i])


# -- rectifiers ------------------------------------------------------------------------------------


@compiled(1, 1)
def _relu(a: Any, out: Any) -> None:
    zero = a.dtype.type(0)
    for i in range(a.size):
        out[i] = zero if a[i] <= zero else a[i]


@compiled(1, 1, REAL, 1)
def _threshold_backward(g: Any, a: Any, threshold: Any, out: Any) -> None:
    zero = g.dtype.type(0)
    for i in range(g.size):
        out[i] = zero if a[i] <= threshold else g[i]


@compiled(1, 1, REAL, 1)
def _leaky_relu_backward(g: Any, a: Any, slope: Any, out: Any) -> None:
    zero = g.dtype.type(0)
    for i in range(g.size):
        out[i] = g[i] if a[i] > zero else g[i] * slope


@compiled(1, 1, REAL, REAL, 1)
def _hardtanh_backward(g: Any, a: Any, low: Any, high: Any, out: Any) -> None:
    zero = g.dtype.type(0)
    for i in range(g.size):
        out[i] = zero if a[i] <= low or a[i] >= high else g[i]


@compiled(1, 1, REAL, 1)
def _hardshrink_backward(g: Any, a: Any, bound: Any, out: Any) -> None:
    zero = g.dtype.type(0)
    for i in range(g.size):
        out[i] = zero if a[i] >= -bound and a[i] <= bound else g[i]


@compiled(1, 1, REAL, REAL, REAL, 1)
def _elu_backward(g: Any, a: Any, low: Any, high: Any, inner: Any, out: Any) -> None:
    wide()
    zero = g.dtype.type(0)
    for i in range(g.size):
        x = a[i]
        below = exp_sum((x if x < zero else zero) * inner, zero) * low
        out[i] = g[i] * (below if x <= zero else high)


def _with_numbers(fn: Any, *names: str) -> Any:
    """A kernel from a compiled ``fn(g, a, *numbers, out)`` over flat arrays, for these attributes."""

    def native(plain: Any) -> Any:
        def kernel(xp: Any, g: Any, x: Any, *given: Any, **named: Any) -> Any:
            if g.size < FEW or not alike(g, x):
                return plain(xp, g, x, *given, **named)
            g, x = ready(g), ready(x)
            out, number = np.empty_like(g), g.dtype.type
            numbers = [number(each) for each in (*given, *(named[name] for name in names[len(given) :]))]
            by_pieces(lambda s, a, o: fn(s, a, *numbers, o), g.reshape(-1), x.reshape(-1), out.reshape(-1))
            return out

        return kernel

    return native


def _of_elu(plain: Any) -> Any:
    made = _with_numbers(_elu_backward, "low", "high", "inner")

    def kernel(xp: Any, g: Any, x: Any, alpha: Any, scale: Any, input_scale: Any) -> Any:
        return made(lambda xp, g, x, *_: plain(xp, g, x, alpha, scale, input_scale))(
            xp, g, x, input_scale * alpha * scale, scale, input_scale
        )

    return kernel


# -- the error function ----------------------------------------------------------------------------


@compiled(1, 1)
def _erf(a: Any, out: Any) -> None:
    wide()
    for i in range(a.size):
        size, _, _ = erf_parts(a[i])
        signed = -size if a[i] < 0 else size
        out[i] = a[i] if a[i] != a[i] or a[i] == 0 else signed


@compiled(1, 1)
def _erfc(a: Any, out: Any) -> None:
    wide()
    one, near_end = a.dtype.type(1), a.dtype.type(NEAR)
    for i in range(a.size):
        x = a[i]
        _, near, above = erf_parts(x)
        right = one - near if x <= near_end else above
        left = one + near if x >= -near_end else one + one - above
        tail = left if x < 0 else right
        out[i] = x if x != x else tail


KERNELS = {
    "elu_backward": _of_elu,
    "erf": unary(_erf),
    "erfc": unary(_erfc),
    "gelu": _of_gelu(_with(unary, _gelu, approximate="none"), _with(unary, _gelu_tanh, approximate="tanh")),
    "gelu_backward": _of_gelu(
        _with(binary, _gelu_backward, approximate="none"),
        _with(binary, _gelu_tanh_backward, approximate="tanh"),
    ),
    "hardshrink_backward": _with_numbers(_hardshrink_backward, "lambd"),
    "hardtanh_backward": _with_numbers(_hardtanh_backward, "min_val", "max_val"),
    "leaky_relu_backward": _with_numbers(_leaky_relu_backward, "negative_slope"),
    "relu": unary(_relu, FEW),
    "sigmoid": unary(_sigmoid),
    "sigmoid_backward": binary(_sigmoid_backward, FEW),
    "silu": unary(_silu),
    "silu_backward": binary(_silu_backward),
    "tanh_backward": binary(_tanh_backward, FEW),
    "threshold_backward": _with_numbers(_threshold_backward, "threshold"),
}
