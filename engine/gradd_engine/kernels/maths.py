"""Elementary functions for kernel loops, without branches or calls, so that loops vectorise.

exp: x = n log 2 + r, a polynomial in r, times 2**n applied to its bits in two halves, so that results
underflow gradually and overflow to inf. About 1 ulp. For the normal distribution see `gauss`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .gauss import DOUBLE, NEAR, ROOT_TWO, SINGLE
from .native import by_type, inlined, polynomial

f32, i32 = np.float32, np.int32
f64, i64 = np.float64, np.int64

# (e**r - 1 - r) / r**2 for |r| <= 0.35, highest power first; own coefficients, relative errors 1e-7 and 2e-16
_exp_of_32 = polynomial(
    f32, (1.39269266140219065e-3, 8.3637738744055735e-3, 4.16665501103051244e-2, 1.6666573381900846e-1, 0.5)
)
_exp_of_64 = polynomial(f64, (
    2.51013469283503402e-8, 2.76213386691429238e-7, 2.75572664186123037e-6, 2.48015186413959936e-5,
    1.98412698643805133e-4, 1.38888889189391678e-3, 8.3333333333297935e-3, 4.16666666666206386e-2,
    1.66666666666666675e-1, 0.500000000000000113,
))  # fmt: skip
_tail_of_32, _tail_of_64 = polynomial(f32, SINGLE.tail), polynomial(f64, DOUBLE.tail)
_near_of_32, _near_of_64 = polynomial(f32, SINGLE.near), polynomial(f64, DOUBLE.near)
_K32, _K2_32, _FAR32 = f32(SINGLE.k), f32(2 * SINGLE.k), f32(SINGLE.far)
_K64, _K2_64, _FAR64 = DOUBLE.k, 2 * DOUBLE.k, DOUBLE.far
# adding it rounds to an integer, which is then in the low bits
_ROUND32, _BITS32 = f32(1.5 * 2.0**23), i32(0x4B400000)
_ROUND64, _BITS64 = 1.5 * 2.0**52, i64(0x4338000000000000)
# log 2 in two parts, the first short enough that n times it is exact
_LOG2_32 = f32(0.693359375), f32(-2.12194440e-4)
_LOG2_64 = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_INVERSE = 1.4426950408889634
# keeps the upper half of a fraction, so that its square is exact
_UPPER32, _UPPER64 = i32(-0x1000), i64(-0x8000000)


@inlined
def _exp32(x: Any, low: Any) -> Any:
    x = f32(-104.0) if x < f32(-104.0) else x
    x = f32(89.0) if x > f32(89.0) else x
    z = f32(x * f32(_INVERSE) + _ROUND32)
    n = z - _ROUND32
    k = i32(z.view(i32) - _BITS32)
    r = ((x - n * _LOG2_32[0]) - n * _LOG2_32[1]) + low
    p = _exp_of_32(r) * (r * r) + r + f32(1.0)
    half = i32(k >> i32(1))
    first = i32(i32(half + i32(127)) << i32(23)).view(f32)
    second = i32(i32(i32(k - half) + i32(127)) << i32(23)).view(f32)
    return p * first * second


@inlined
def _exp64(x: Any, low: Any) -> Any:
    x = -746.0 if x < -746.0 else x
    x = 710.0 if x > 710.0 else x
    z = f64(x * _INVERSE + _ROUND64)
    n = z - _ROUND64
    k = i64(z.view(i64) - _BITS64)
    r = ((x - n * _LOG2_64[0]) - n * _LOG2_64[1]) + low
    p = _exp_of_64(r) * (r * r) + r + 1.0
    half = k >> 1
    first = i64((half + 1023) << 52).view(f64)
    second = i64((k - half + 1023) << 52).view(f64)
    return p * first * second


#: exp(x + low), for a small `low`
exp_sum = by_type(_exp32, _exp64)


# The hyperbolic tangent: near 0 an odd polynomial or quotient, whose coefficients are those of Cephes
# (https://netlib.org/cephes), elsewhere by exp(2|x|), with the sign of x.
_odd_of_32 = polynomial(
    f32,
    (-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1),
)
_over_of_64 = polynomial(
    f64, (-9.64399179425052238628e-1, -9.92877231001918586564e1, -1.61468768441708447952e3)
)
_under_of_64 = polynomial(
    f64, (1.0, 1.12811678491632931402e2, 2.23548839060100448583e3, 4.84406305325125486048e3)
)
_CLOSE = 0.625


@inlined
def _tanh32(x: Any) -> Any:
    size = abs(x)
    square = f32(x * x)
    near = f32(x + x * square * _odd_of_32(square))
    far = f32(1.0) - f32(2.0) / (_exp32(f32(2.0) * size, f32(0.0)) + f32(1.0))
    far = -far if x < f32(0.0) else far
    return near if size < f32(_CLOSE) else far


@inlined
def _tanh64(x: Any) -> Any:
    size = abs(x)
    square = x * x
    near = x + x * square * (_over_of_64(square) / _under_of_64(square))
    far = 1.0 - 2.0 / (_exp64(2.0 * size, 0.0) + 1.0)
    far = -far if x < 0.0 else far
    return near if size < _CLOSE else far


#: tanh(x)
hyperbolic = by_type(_tanh32, _tanh64)


# exp for results known to be neither inf nor subnormal.


@inlined
def _decay32(x: Any, low: Any) -> Any:
    z = f32(x * f32(_INVERSE) + _ROUND32)
    n = z - _ROUND32
    r = ((x - n * _LOG2_32[0]) - n * _LOG2_32[1]) + low
    p = _exp_of_32(r) * (r * r) + r + f32(1.0)
    return p * i32(i32(i32(z.view(i32) - _BITS32) + i32(127)) << i32(23)).view(f32)


@inlined
def _decay64(x: Any, low: Any) -> Any:
    z = f64(x * _INVERSE + _ROUND64)
    n = z - _ROUND64
    r = ((x - n * _LOG2_64[0]) - n * _LOG2_64[1]) + low
    p = _exp_of_64(r) * (r * r) + r + 1.0
    return p * i64((z.view(i64) - _BITS64 + 1023) << 52).view(f64)


@inlined
def _tail32(y: Any) -> Any:
    return _tail_of_32(f32(1.0) - _K2_32 / (y + _K32))


@inlined
def _tail64(y: Any) -> Any:
    return _tail_of_64(1.0 - _K2_64 / (y + _K64))


@inlined
def _normal32(x: Any) -> Any:
    y = abs(x)
    y = y if y < _FAR32 else _FAR32
    whole = i32(f32(y).view(i32) & _UPPER32).view(f32)
    bell = _decay32(f32(-0.5) * whole * whole, f32(0.5) * (whole - y) * (whole + y))
    bell = bell if y < _FAR32 else f32(0.0)
    above = bell * _tail32(y)
    return (f32(1.0) - above if x > f32(0.0) else above), bell


@inlined
def _normal64(x: Any) -> Any:
    y = abs(x)
    y = y if y < _FAR64 else _FAR64
    whole = i64(f64(y).view(i64) & _UPPER64).view(f64)
    bell = _decay64(-0.5 * whole * whole, 0.5 * (whole - y) * (whole + y))
    bell = bell if y < _FAR64 else 0.0
    above = bell * _tail64(y)
    return (1.0 - above if x > 0.0 else above), bell


#: P(X <= x) and exp(-x*x/2) for a standard normal X; unspecified numbers for nan
normal = by_type(_normal32, _normal64)


@inlined
def _erf32(x: Any) -> Any:
    t = abs(x)
    t = t if t < _FAR32 else _FAR32
    whole = i32(f32(t).view(i32) & _UPPER32).view(f32)
    bell = _exp32(-whole * whole, (whole - t) * (whole + t))
    above = f32(2.0) * bell * _tail32(t * f32(ROOT_TWO))
    near = t * _near_of_32(t * t)
    size = near if t <= f32(NEAR) else f32(1.0) - above
    return size, near, above


@inlined
def _erf64(x: Any) -> Any:
    t = abs(x)
    t = t if t < _FAR64 else _FAR64
    whole = i64(f64(t).view(i64) & _UPPER64).view(f64)
    bell = _exp64(-whole * whole, (whole - t) * (whole + t))
    above = 2.0 * bell * _tail64(t * ROOT_TWO)
    near = t * _near_of_64(t * t)
    size = near if t <= NEAR else 1.0 - above
    return size, near, above


#: erf(|x|), erf(|x|) for |x| <= NEAR, and erfc(|x|); unspecified numbers for nan
erf_parts = by_type(_erf32, _erf64)


@inlined
def _key32(x: Any) -> Any:
    bits = f32(x).view(i32)
    return i32(bits ^ i32(i32(bits >> i32(31)) & i32(0x7FFFFFFF)))


@inlined
def _key64(x: Any) -> Any:
    bits = f64(x).view(i64)
    return bits ^ ((bits >> 63) & i64(0x7FFFFFFFFFFFFFFF))


@inlined
def _of_key32(key: Any) -> Any:
    return i32(key ^ i32(i32(key >> i32(31)) & i32(0x7FFFFFFF))).view(f32)


@inlined
def _of_key64(key: Any) -> Any:
    return i64(key ^ ((key >> 63) & i64(0x7FFFFFFFFFFFFFFF))).view(f64)


@inlined
def _largest32(row: Any) -> Any:
    top = _key32(row[0])
    for j in range(1, row.size):
        top = max(top, _key32(row[j]))
    return _of_key32(top)


@inlined
def _largest64(row: Any) -> Any:
    top = _key64(row[0])
    for j in range(1, row.size):
        top = max(top, _key64(row[j]))
    return _of_key64(top)


#: the largest of a row, compared as integers in the same order, which vectorises; may skip nan
largest = by_type(_largest32, _largest64)
