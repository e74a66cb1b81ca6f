"""A tensor as a request or reply body: JSON, npy, safetensors or raw bytes.

Raw bytes are little-endian, in C order; `Gradd-Dtype` (NumPy's name) and `Gradd-Shape` (`2,3`; empty for
0-d) describe them. safetensors has no complex128: it is stored as F64 with a last axis of 2 and listed in
`__metadata__`.
"""

from __future__ import annotations

import ast
import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from gradd_protocol import dtypes
from gradd_protocol.frames import Array
from gradd_protocol.limits import DEFAULT as LIMITS

from gradd_server.bodies import Body
from gradd_server.errors import Refused
from gradd_server.media import JSON, NPY, OCTETS, SAFETENSORS

OFFERED = (JSON, OCTETS, NPY, SAFETENSORS)
"""The formats for reading a tensor, preferred first."""

COMPLEX128_KEY = "gradd.complex128"
MAX_HEADER_BYTES = 64 * 1024
"""For an npy or safetensors file with one tensor; real ones have some hundred bytes."""


_DESCR = re.compile(r"[<>|=][biufc][0-9]{1,2}")


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of an upload's bytes."""

    dtype: dtypes.WireType
    shape: tuple[int, ...]
    fortran: bool = False
    big_endian: bool = False

    @property
    def nbytes(self) -> int:
        """Bytes of the tensor."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def in_order(self) -> bool:
        """Whether the bytes are already little-endian and in C order."""
        return not (self.fortran or self.big_endian)

    def put_in_order(self, data: memoryview) -> Array:
        """The array of bytes that are not `in_order`, reordered."""
        dtype = self.dtype.numpy.newbyteorder(">") if self.big_endian else self.dtype.numpy
        flat = np.frombuffer(data, dtype)
        return flat.reshape(self.shape, order="F" if self.fortran else "C")


def octets_layout(headers: Mapping[str, str]) -> Layout:
    """The layout given by `Gradd-Dtype` and `Gradd-Shape`. Raises Refused (400)."""
    name, text = headers.get("gradd-dtype"), headers.get("gradd-shape")
    if name is None or text is None:
        raise Refused("bad-request", "octets need the headers Gradd-Dtype and Gradd-Shape")
    return Layout(_dtype(name), _shape(text))


async def npy_layout(body: Body) -> Layout:
    """Read the header of an npy file from `body`; object, structured and string dtypes are refused."""
    magic = bytes(await body.read(min(8, body.remaining)))
    if len(magic) < 8 or magic[:6] != b"\x93NUMPY" or magic[6] not in (1, 2, 3):
        raise Refused("invalid-data", "the body is not an npy file of version 1, 2 or 3")
    width = 2 if magic[6] == 1 else 4
    length = int.from_bytes(await body.read(min(width, body.remaining)), "little")
    header = bytes(await body.read(_header_length(length, body)))
    try:
        said = ast.literal_eval(header.decode("utf-8" if magic[6] == 3 else "latin-1").strip())
        if not isinstance(said, dict) or set(said) != {"descr", "fortran_order", "shape"}:
            raise ValueError("descr, fortran_order and shape are due")
        shape, descr = said["shape"], said["descr"]
        if not isinstance(shape, tuple) or not all(type(size) is int for size in shape):
            raise ValueError("shape is a tuple of sizes")
        if not isinstance(descr, str) or not _DESCR.fullmatch(descr):
            raise ValueError("a tensor has one numeric dtype")
        dtype = np.dtype(descr)
        row = dtypes.of(dtype)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise Refused("invalid-data", f"the npy header: {str(error)[:200]}") from None
    fortran = bool(said["fortran_order"]) and len(shape) > 1
    return Layout(row, _checked_shape(shape), fortran, descr.startswith(">"))


class _Tensor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


async def safetensors_layout(body: Body) -> Layout:
    """Read the header of a safetensors file with one tensor from `body`."""
    length = int.from_bytes(await body.read(min(8, body.remaining)), "little")
    header = bytes(await body.read(_header_length(length, body)))
    try:
        table = json.loads(header, object_pairs_hook=_once)
        if not isinstance(table, dict):
            raise ValueError("not an object")
        metadata = msgspec.convert(table.pop("__metadata__", {}), dict[str, str])
        if len(table) != 1:
            raise ValueError(f"{len(table)} tensors, where one is put")
        ((name, raw),) = table.items()
        entry = msgspec.convert(raw, _Tensor)
    except (ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise Refused("invalid-data", f"the safetensors header: {str(error)[:200]}") from None
    row = dtypes.BY_CODE.get(entry.dtype)
    if row is None:
        raise Refused(
            "invalid-data", f"no dtype has the code {entry.dtype[:16]!r}", supported=list(dtypes.BY_CODE)
        )
    shape = _checked_shape(entry.shape)
    if name in metadata.get(COMPLEX128_KEY, "").split(","):
        if row.name != "float64" or not shape or shape[-1] != 2:
            raise Refused("invalid-data", "a complex128 tensor is stored as F64 with a last axis of 2")
        row, shape = dtypes.BY_NAME["complex128"], shape[:-1]
    layout = Layout(row, shape)
    if entry.data_offsets != (0, layout.nbytes):
        raise Refused("invalid-data", "data_offsets do not fit the tensor's shape and dtype")
    return layout


def head(kind: str, name: str, dtype: str, shape: Sequence[int]) -> bytes:
    """The file header that precedes a tensor's bytes in the format `kind`, if it has one."""
    row = dtypes.BY_NAME[dtype]
    return {OCTETS: _no_header, NPY: _npy_header, SAFETENSORS: _safetensors_header}[kind](name, row, shape)


def _no_header(name: str, row: dtypes.WireType, shape: Sequence[int]) -> bytes:
    return b""


def _npy_header(name: str, row: dtypes.WireType, shape: Sequence[int]) -> bytes:
    file = io.BytesIO()
    header = {
        "descr": np.lib.format.dtype_to_descr(row.numpy),
        "fortran_order": False,
        "shape": tuple(shape),
    }
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue()


def _safetensors_header(name: str, row: dtypes.WireType, shape: Sequence[int]) -> bytes:
    nbytes = math.prod(shape) * row.itemsize
    table: dict[str, object] = {}
    if row.name == "complex128":
        table["__metadata__"] = {COMPLEX128_KEY: name}
        row, shape = dtypes.BY_NAME["float64"], [*shape, 2]
    table[name] = {"dtype": row.code, "shape": list(shape), "data_offsets": [0, nbytes]}
    header = msgspec.json.encode(table)
    header = header.ljust(len(header) + -len(header) % 8)
    return len(header).to_bytes(8, "little") + header


def _header_length(length: int, body: Body) -> int:
    if length > min(MAX_HEADER_BYTES, body.remaining):
        raise Refused("invalid-data", f"the file's header has {length} bytes, of {MAX_HEADER_BYTES} at most")
    return length


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("a name stands twice")
    return table


def _dtype(name: str) -> dtypes.WireType:
    row = dtypes.BY_NAME.get(name)
    if row is None:
        raise Refused("invalid-data", f"no dtype is named {name[:32]!r}", supported=list(dtypes.BY_NAME))
    return row


def _shape(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    if not all(part.isascii() and part.isdigit() and len(part) < 20 for part in parts):
        raise Refused("bad-request", "Gradd-Shape is a list of sizes, as 2,3; empty for a number")
    return _checked_shape([int(part) for part in parts])


def _checked_shape(shape: list[int] | tuple[int, ...]) -> tuple[int, ...]:
    if len(shape) > LIMITS.dims:
        raise Refused("invalid-data", f"a tensor has at most {LIMITS.dims} dimensions", limit=LIMITS.dims)
    if any(size < 0 or size >= 1 << 63 for size in shape):
        raise Refused("invalid-data", "a size is not negative and below 2^63")
    return tuple(shape)
