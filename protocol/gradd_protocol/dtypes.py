"""Dtypes on the wire: NumPy name <-> frame code <-> item size. Bytes are little-endian, in C order."""

import dataclasses
from typing import Annotated, Final, Literal, TypeAlias

import ml_dtypes
import numpy as np
from msgspec import Meta

Kind = Literal["bool", "int", "float", "complex"]


@dataclasses.dataclass(frozen=True, slots=True)
class WireType:
    """One dtype: `name` as NumPy (and the API) spells it, `code` as frames spell it."""

    name: str
    code: str
    itemsize: int
    kind: Kind
    numpy: "np.dtype[np.generic]"


def _row(name: str, code: str, kind: Kind, scalar: type | None = None) -> WireType:
    dtype: np.dtype[np.generic] = np.dtype(scalar if scalar is not None else name)
    return WireType(name, code, dtype.itemsize, kind, dtype)


TABLE: Final = (
    _row("bool", "BOOL", "bool"),
    _row("uint8", "U8", "int"),
    _row("int8", "I8", "int"),
    _row("int16", "I16", "int"),
    _row("int32", "I32", "int"),
    _row("int64", "I64", "int"),
    _row("uint16", "U16", "int"),
    _row("uint32", "U32", "int"),
    _row("uint64", "U64", "int"),
    _row("float16", "F16", "float"),
    _row("bfloat16", "BF16", "float", ml_dtypes.bfloat16),
    _row("float32", "F32", "float"),
    _row("float64", "F64", "float"),
    _row("complex64", "C64", "complex"),
    _row("complex128", "C128", "complex"),
)
"""Every dtype on the wire."""

BY_NAME: Final = {row.name: row for row in TABLE}
BY_CODE: Final = {row.code: row for row in TABLE}
BY_NUMPY: Final = {row.numpy: row for row in TABLE}

DTypeName: TypeAlias = Annotated[
    str, Meta(title="Dtype", description="NumPy's name.", extra_json_schema={"enum": list(BY_NAME)})
]
"""A dtype's name, for schemas; `BY_NAME` validates it."""


def of(dtype: "np.dtype[np.generic]") -> WireType:
    """The wire type of a NumPy dtype of any byte order. TypeError if there is none."""
    row = BY_NUMPY.get(dtype)
    if row is None:
        row = BY_NUMPY.get(dtype.newbyteorder("<"))
    if row is None:
        raise TypeError(f"dtype {dtype} does not cross the wire; one of {', '.join(BY_NAME)} does")
    return row
