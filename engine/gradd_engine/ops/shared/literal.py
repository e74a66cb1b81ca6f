"""Arrays of Python data: numbers, nested sequences, NumPy's arrays and scalars.

Rules and messages of https://pytorch.org/docs/stable/generated/torch.tensor.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import dtypes

if TYPE_CHECKING:
    from ...data import DType

_NUMBERS = (bool, int, float, complex, np.generic)


def literal(values: Any, dtype: DType | None = None) -> Any:
    """The array of a literal; Python floats take the default dtype, integers int64, unless `dtype` is given.

    Raises TypeError for strings, ValueError for ragged sequences and for integers beyond 64 bits,
    RuntimeError for what is no number and for values beyond the range of an integer `dtype`.
    """
    if isinstance(values, (np.ndarray, np.generic)):
        a = np.asarray(values)
        dtypes.from_numpy(a.dtype)
        return a.astype(dtype.np) if dtype is not None else a.copy()
    a = _array(values)
    if a.dtype.kind not in "biufc":
        raise _refusal(values)
    own = isinstance(_first(values), (np.ndarray, np.generic))
    if a.dtype.kind == "u" and a.dtype.itemsize == 8 and not own and dtype is not dtypes.uint64:
        raise ValueError("Overflow when unpacking long long")
    if dtype is dtypes.uint64 and a.size:
        _check_unsigned(a)
    if dtype is None:
        dtype = dtypes.from_numpy(a.dtype) if own else _natural(a)
    elif dtype.category < dtypes.COMPLEX and a.dtype.kind == "c":
        raise TypeError("must be real number, not complex")
    elif dtype.category == dtypes.INT and a.size:
        _check_range(a, dtype)
    with np.errstate(all="ignore"):
        return a != 0 if dtype is dtypes.bool_ else a.astype(dtype.np)


def _array(values: Any) -> Any:
    try:
        return np.array(values)
    except ValueError:
        raise _refusal(values) from None


def _natural(a: Any) -> DType:
    if not a.size:
        return dtypes.default_dtype()
    return {"b": dtypes.bool_, "i": dtypes.int64, "f": dtypes.default_dtype()}.get(
        a.dtype.kind, dtypes.to_complex(dtypes.default_dtype())
    )


def _check_range(a: Any, dtype: DType) -> None:
    """Unsigned integers take negative numbers too, which wrap; none takes a nan."""
    info = np.iinfo(dtype.np)
    low = info.min if info.min else -info.max
    if not (low <= a.min() and a.max() <= info.max):
        raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")


def _check_unsigned(a: Any) -> None:
    """The widest integers take nothing that is not one of them."""
    if a.dtype.kind not in "biu":
        raise TypeError("an integer is required")
    if a.min() < 0:
        raise OverflowError("can't convert negative int to unsigned")


def _first(values: Any) -> Any:
    while isinstance(values, (list, tuple)) and values:
        values = values[0]
    return values


def _refusal(values: Any) -> Exception:
    """Why `values` are no array, in PyTorch's words: what stands in them first, then how they nest."""
    shape: list[int] = []
    inner = values
    while isinstance(inner, (list, tuple)):
        shape.append(len(inner))
        if not inner:
            break
        inner = inner[0]
    if shape and isinstance(inner, str):
        return ValueError("too many dimensions 'str'")
    leaves = list(_leaves(values))
    for v in leaves:
        if isinstance(v, (str, bytes)):
            return TypeError(f"new(): invalid data type '{type(v).__name__}'")
        if not isinstance(v, (*_NUMBERS, np.ndarray)):
            return RuntimeError(f"Could not infer dtype of {type(v).__name__}")
    real = any(isinstance(v, float) for v in leaves)
    return _uneven(values, shape, 0, real) or ValueError("Overflow when unpacking long long")


def _leaves(values: Any) -> Any:
    if isinstance(values, (list, tuple)):
        for v in values:
            yield from _leaves(v)
    else:
        yield values


def _uneven(values: Any, shape: list[int], dim: int, real: bool) -> Exception | None:
    nested = isinstance(values, (list, tuple))
    if dim == len(shape):
        if not nested:
            return None
        kind = type(values).__name__
        return TypeError(
            f"must be real number, not {kind}"
            if real
            else f"'{kind}' object cannot be interpreted as an integer"
        )
    if not nested:
        return TypeError("not a sequence")
    if len(values) != shape[dim]:
        return ValueError(f"expected sequence of length {shape[dim]} at dim {dim} (got {len(values)})")
    found = (_uneven(v, shape, dim + 1, real) for v in values)
    return next((e for e in found if e is not None), None)
