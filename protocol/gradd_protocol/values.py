"""Conversions between Python numbers and run-time values in JSON."""

import math
from collections.abc import Sequence
from typing import Final

from .fields import NonFinite, Real, Scalar
from .problems import Malformed
from .program import ValueKind

Number = bool | int | float | complex

NON_FINITE: Final[dict[str, float]] = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}
_INT_MIN, _INT_MAX = -(1 << 63), (1 << 64) - 1


def kind_of(value: Number) -> ValueKind:
    """The kind of a Python number, which is part of a program's identity."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    return "float" if isinstance(value, float) else "complex"


def encode_real(value: float) -> Real:
    """A float, or its name if it is not finite."""
    if math.isfinite(value):
        return value
    word: NonFinite = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return word


def encode_scalar(value: Number) -> Scalar:
    """A Python number as in a batch."""
    if isinstance(value, complex):
        return [encode_real(value.real), encode_real(value.imag)]
    return encode_real(value) if isinstance(value, float) else value


def encode_scalars(values: Sequence[Number]) -> list[Scalar]:
    """`encode_scalar` of each."""
    # Fast path: most are floats that are finite.
    return [v if v.__class__ is float and math.isfinite(v) else encode_scalar(v) for v in values]


def decode_scalars(scalars: Sequence[Scalar], kinds: Sequence[ValueKind]) -> list[Number]:
    """`decode_scalar` for each scalar and its kind."""
    # Fast path: most are floats of kind float.
    return [
        v if v.__class__ is float and k == "float" else decode_scalar(v, k)
        for v, k in zip(scalars, kinds, strict=True)
    ]


def decode_scalar(scalar: Scalar, kind: ValueKind) -> Number:
    """The Python number of that kind. Malformed if it is of another kind, or an integer beyond 64 bits.

    An integer is accepted as a float or a complex number: some JSON writers write 1.0 as 1.
    """
    if kind == "complex" and isinstance(scalar, list):
        return complex(_real(scalar[0]), _real(scalar[1]))
    if isinstance(scalar, bool):
        if kind == "bool":
            return scalar
    elif isinstance(scalar, int):
        if not _INT_MIN <= scalar <= _INT_MAX:
            raise Malformed("an integer among the values does not fit 64 bits")
        if kind == "int":
            return scalar
        if kind in ("float", "complex"):
            return _real(scalar) if kind == "float" else complex(scalar)
    elif not isinstance(scalar, list) and kind in ("float", "complex"):
        return _real(scalar) if kind == "float" else complex(_real(scalar))
    raise Malformed(f"a value is not of kind {kind}")


def read_real(value: bool | int | float | str) -> float:
    """A JSON number, or the name of a non-finite one, as a float. ValueError for anything else."""
    if isinstance(value, bool) or (isinstance(value, str) and value not in NON_FINITE):
        raise ValueError(f"{value!r:.40} is not a number; NaN, Infinity and -Infinity are")
    try:
        return NON_FINITE[value] if isinstance(value, str) else float(value)
    except OverflowError:
        raise ValueError("a number is beyond float64") from None


def _real(value: Real) -> float:
    return NON_FINITE[value] if isinstance(value, str) else float(value)
