"""Bessel functions of orders 0 and 1, Airy's function, and spherical j0 (torch.special), in double precision.

From 1 on by the integral over exp(-v**2) of Hankel's functions and of K, which the trapezoidal rule gives to
rounding, as its integrand is even and analytic near the line; below 1 by power series. They have no
derivative, as in PyTorch. Source: https://dlmf.nist.gov/10.9, 10.8, 10.31; https://dlmf.nist.gov/9.4, 9.7.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...data import dtypes
from ...declare import elementwise
from . import bessel
from .special import real_input

_EULER = 0.57721566490153286061
#: step and points of the rule: exp(-v**2) is below rounding at the last
_STEP, _POINTS = 0.14, 46
#: terms of the series below 1
_TERMS = 14
#: Airy's function: the power series within, asymptotic ones or K beyond
_AIRY = 6.0


def _integral(xp: Any, x: Any, order: int, turn: complex) -> Any:
    """The integral of exp(-v**2) v**(2 order) (1 + turn v**2 / (2 x))**(order - 1/2), normalized to 1 for a
    large x.
    """
    total = xp.full(x.shape, 0.5 if order == 0 else 0.0, complex if turn.imag else float)
    factor = turn if turn.imag else turn.real
    norm = 0.5 * math.sqrt(math.pi) if order == 0 else 0.25 * math.sqrt(math.pi)
    for k in range(1, _POINTS):
        square = (k * _STEP) ** 2
        root = xp.sqrt(1.0 + factor * square / (2.0 * x))
        weight = math.exp(-square)
        total = total + (weight / root if order == 0 else weight * square * root)
    return total * (_STEP / norm)


def _hankel(xp: Any, x: Any, order: int) -> Any:
    """J + i Y for x >= 1."""
    phase = x - math.pi / 4.0 - order * math.pi / 2.0
    turned = xp.cos(phase) + 1j * xp.sin(phase)
    return xp.sqrt(2.0 / (math.pi * x)) * turned * _integral(xp, x, order, 1j)


def _first(xp: Any, x: Any, order: int, sign: float) -> Any:
    """J (sign -1) or I (1) near 0."""
    term = x / 2.0 if order else xp.ones_like(x)
    total = term
    for k in range(1, _TERMS):
        term = term * (sign * x * x / 4.0) / (k * (k + order))
        total = total + term
    return total


def _sums(xp: Any, x: Any, order: int, sign: float) -> Any:
    """The series of the second kind near 0: each term times the harmonic numbers."""
    term = x / 2.0 if order else xp.ones_like(x)
    low = 0.0
    total = term * (1.0 if order else 0.0)
    for k in range(1, _TERMS):
        low += 1.0 / k
        term = term * (sign * x * x / 4.0) / (k * (k + order))
        total = total + term * (2.0 * low + 1.0 / (k + 1) if order else low)
    return total


def _y(xp: Any, x: Any, order: int) -> Any:
    """Y near 0, for x > 0."""
    logs = (xp.log(x / 2.0) + _EULER) * _first(xp, x, order, -1.0)
    if order == 0:
        return 2.0 / math.pi * (logs - _sums(xp, x, 0, -1.0))
    return 2.0 / math.pi * (logs - 1.0 / x) - _sums(xp, x, 1, -1.0) / math.pi


def _k_near(xp: Any, x: Any, order: int) -> Any:
    logs = (xp.log(x / 2.0) + _EULER) * _first(xp, x, order, 1.0)
    if order == 0:
        return _sums(xp, x, 0, 1.0) - logs
    return 1.0 / x + logs - 0.5 * _sums(xp, x, 1, 1.0)


def _jy(xp: Any, a: Any, order: int, second: bool) -> Any:
    x = a.astype(xp.float64)
    size = xp.abs(x)
    near, far = xp.clip(size, 1e-300, 1.0), xp.clip(size, 1.0, 1e300)
    wave = _hankel(xp, far, order)
    found = xp.where(size < 1.0, (_y if second else _j)(xp, near, order), wave.imag if second else wave.real)
    found = xp.where(xp.isinf(size), math.nan, found)
    if second:
        found = xp.where(x == 0, -math.inf, xp.where(x < 0, math.nan, found))
    elif order:
        found = xp.where(x < 0, -found, xp.where(x == 0, 0.0, found))
    return xp.where(xp.isnan(x), math.nan, found)


def _j(xp: Any, x: Any, order: int) -> Any:
    return _first(xp, x, order, -1.0)


def _k(xp: Any, a: Any, order: int, scaled: bool) -> Any:
    x = a.astype(xp.float64)
    near, far = xp.clip(x, 1e-300, 1.0), xp.clip(x, 1.0, 1e300)
    tail = xp.sqrt(math.pi / (2.0 * far)) * _integral(xp, far, order, 1.0 + 0j)
    head = _k_near(xp, near, order)
    head, tail = (head * xp.exp(near), tail) if scaled else (head, tail * xp.exp(-far))
    found = xp.where(x < 1.0, head, tail)
    found = xp.where(x == 0, math.inf, xp.where(x < 0, math.nan, found))
    found = xp.where(xp.isinf(x) & (x > 0), 0.0, found)
    return xp.where(xp.isnan(x), math.nan, found)


# -- Airy ----------------------------------------------------------------------------------------------

_AI0, _SLOPE0 = 0.35502805388781723926, -0.25881940379280679841


def _airy_near(xp: Any, x: Any) -> Any:
    cube = x * x * x
    f, g = xp.ones_like(x), x
    first, second = f, g
    for k in range(1, 60):
        f = f * cube / ((3 * k - 1) * (3 * k))
        g = g * cube / ((3 * k) * (3 * k + 1))
        first, second = first + f, second + g
    return _AI0 * first + _SLOPE0 * second


def _airy_terms(count: int) -> list[float]:
    """The coefficients u of https://dlmf.nist.gov/9.7.E2."""
    found = [1.0]
    for k in range(1, count):
        found.append(found[-1] * (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216.0 * k * (2 * k - 1)))
    return found


_U = _airy_terms(14)


def _airy(xp: Any, a: Any) -> Any:
    x = a.astype(xp.float64)
    size = xp.clip(xp.abs(x), _AIRY, 1e100)
    zeta = 2.0 / 3.0 * size * xp.sqrt(size)
    down = sum((u if k % 2 == 0 else -u) / zeta**k for k, u in enumerate(_U))
    even = sum((-1.0) ** (k // 2) * _U[k] / zeta**k for k in range(0, 14, 2))
    odd = sum((-1.0) ** (k // 2) * _U[k] / zeta**k for k in range(1, 14, 2))
    height = 1.0 / (math.sqrt(math.pi) * xp.sqrt(xp.sqrt(size)))
    decaying = 0.5 * height * xp.exp(-zeta) * down
    phase = zeta - math.pi / 4.0
    waving = height * (xp.cos(phase) * even + xp.sin(phase) * odd)
    near = _airy_near(xp, xp.clip(x, -_AIRY, _AIRY))
    found = xp.where(x >= _AIRY, decaying, xp.where(x <= -_AIRY, waving, near))
    return xp.where(xp.isnan(x) | xp.isinf(x), math.nan, found)


def _spherical(xp: Any, a: Any) -> Any:
    x = a.astype(xp.float64)
    square = x * x
    near = 1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0))
    far = xp.where(xp.isinf(x) | (x == 0), 1.0, x)
    found = xp.where(xp.abs(x) < 0.05, near, xp.sin(far) / far)
    return xp.where(xp.isinf(x), 0.0, found)


def _declare(name: str, values: Callable[..., Any], doc: str) -> None:
    elementwise(
        f"{name}(Tensor input) -> Tensor",
        infer=real_input(f"{name}_cpu", dtypes.float16, dtypes.bfloat16),
        impl=values,
        namespace="special",
        doc=f"{doc} (torch.special.{name}).",
        raises=False,
    )


for _order in (0, 1):
    for _letter, _kind in (("j", "first"), ("y", "second")):
        _declare(
            f"bessel_{_letter}{_order}",
            lambda xp, a, order=_order, second=_letter == "y": _jy(xp, a, order, second),
            f"The Bessel function of the {_kind} kind of order {_order}",
        )
    for _prefix, _scaled in (("", False), ("scaled_", True)):
        _declare(
            f"{_prefix}modified_bessel_k{_order}",
            lambda xp, a, order=_order, scaled=_scaled: _k(xp, a, order, scaled),
            f"The modified Bessel function of the second kind of order {_order}"
            + (", times exp(input)" if _scaled else ""),
        )
    _declare(
        f"modified_bessel_i{_order}",
        lambda xp, a, order=_order: bessel.unscaled(xp, a, order),
        f"The modified Bessel function of the first kind of order {_order}",
    )
_declare("airy_ai", _airy, "Airy's function")
_declare("spherical_bessel_j0", _spherical, "The spherical Bessel function of order 0, sin(input) / input")
