"""Numbers that go into tensors: whether a dtype can hold them, and what they are there.

Source: https://pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc; the rules are those of a
checked conversion in C++: infinities and NaN go into floating dtypes, a negative number wraps in an unsigned
one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...data import DType, dtypes
from ...tensor import Tensor

#: C++ names, as messages quote them
CPP = {
    "float32": "float", "float64": "double", "int64": "long int", "int32": "int", "int16": "short int",
    "int8": "signed char", "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int",
    "uint64": "unsigned long", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>", "bool": "bool",
}  # fmt: skip
#: and those that messages about conversions quote, where they differ
_FIXED = {name: f"{name}_t" for name in ("int64", "int16", "int8", "uint8", "uint16", "uint32", "uint64")}
#: the largest finite numbers
_LARGEST = {
    "float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38,
    "float64": math.inf, "complex64": 3.4028234663852886e38, "complex128": math.inf,
}  # fmt: skip
_PYTHONS = frozenset({int, float, complex})


def number_first(target: Tensor, x: Tensor, others: Any) -> bool:
    """Whether `x` is a number to an op that writes to `target`: it is read before anything is written."""
    return not x.shape and bool(target.shape)


def fits(value: Any, dtype: DType) -> None:
    """RuntimeError in PyTorch's words where `value`, a number, has no like in `dtype`; tensors pass.

    In a plan a number of a wide floating dtype may change from run to run: looking at it here is no reason to
    plan anew. Those of other dtypes are looked at, so the plan is for one value.
    """
    if value is None or isinstance(value, (Tensor, bool)) or dtype is dtypes.bool_:
        return
    if value.__class__ not in _PYTHONS and dtype.category >= dtypes.FLOAT and not dtype.is_half:
        from ...tracing import plain

        value = plain(value)
    if not _held(value, dtype):
        name = _FIXED.get(dtype.name, CPP[dtype.name])
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")


def _held(value: Any, dtype: DType) -> bool:
    if isinstance(value, complex):
        if value.imag and not dtype.is_complex:
            return False
        return _held(value.real, dtype) and (not dtype.is_complex or _held(value.imag, dtype))
    if dtype.category >= dtypes.FLOAT:
        return bool(abs(value) <= _LARGEST[dtype.name]) or not math.isfinite(value)
    info = np.iinfo(dtype.np)
    # An unsigned integer takes negative integers as far down as it goes up.
    low = info.min if info.min or isinstance(value, float) else -info.max
    return bool(low <= value <= info.max)


def operands_fit(*operands: Any) -> None:
    """`fits`, of the numbers among operands that promote, in the dtype of their result."""
    if any(isinstance(x, (int, float, complex)) for x in operands):
        dtype = dtypes.result_type([x for x in operands if x is not None])
        for x in operands:
            fits(x, dtype)


def computed_in(dtype: DType) -> DType:
    """What the kernels of `dtype` take numbers in."""
    return dtypes.float32 if dtype.is_half else dtype


def stored(value: Any, dtype: Any) -> Any:
    """`value` as a NumPy scalar of `dtype`: negative numbers wrap in unsigned integers, and of a complex
    number only the real part goes into a real dtype.
    """
    if isinstance(value, complex) and np.dtype(dtype).kind not in "bc":
        value = value.real
    return np.asarray(value).astype(dtype)[()]


def element(value: Any, dtype: Any) -> Any:
    """`value`, a number or an array, in `dtype`: an element to store."""
    if isinstance(value, (bool, int, float, complex)):
        return stored(value, dtype)
    if value.dtype.kind == "c" and np.dtype(dtype).kind not in "bc":
        value = value.real
    return value.astype(dtype)


__all__ = ["CPP", "computed_in", "element", "fits", "operands_fit", "stored"]
