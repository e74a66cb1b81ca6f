"""Files in the safetensors layout: u64 header length, JSON header, little-endian C-ordered data without gaps.

The format has no complex128: such a tensor is stored as F64 with a last axis of 2, its name listed in the
file's metadata under ``gradd.complex128``. Source: https://github.com/huggingface/safetensors#format
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from gradd_protocol import dtypes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

COMPLEX = "gradd.complex128"
_HEADER_LIMIT = 100_000_000  # bytes; what other readers of the format accept
_META = "__metadata__"


class StoredTensor(NamedTuple):
    """One tensor of a file: NumPy name of its dtype, shape, and where its bytes are."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    nbytes: int

    def read(self, file: BinaryIO) -> np.ndarray[Any, Any]:
        """The values; ValueError if the file ends too early."""
        file.seek(self.start)
        data = file.read(self.nbytes)
        if len(data) != self.nbytes:
            raise ValueError("the file ends inside a tensor")
        return np.frombuffer(data, dtypes.BY_NAME[self.dtype].numpy).reshape(self.shape)


def write(
    file: BinaryIO,
    tensors: Mapping[str, tuple[str, tuple[int, ...]]],
    values: Callable[[str], np.ndarray[Any, Any]],
    metadata: Mapping[str, str],
) -> None:
    """Write a file of `tensors`, name to (dtype, shape); `values` is called for each one's data, in order."""
    order = sorted(tensors, key=lambda name: (-dtypes.BY_NAME[tensors[name][0]].itemsize, name))
    wide = [name for name in order if tensors[name][0] == "complex128"]
    notes = {**metadata, COMPLEX: json.dumps(wide)} if wide else dict(metadata)
    header: dict[str, Any] = {_META: notes} if notes else {}
    at = 0
    for name in order:
        row, shape = dtypes.BY_NAME[tensors[name][0]], list(tensors[name][1])
        end = at + math.prod(shape) * row.itemsize
        code, shape = ("F64", [*shape, 2]) if row.name == "complex128" else (row.code, shape)
        header[name] = {"dtype": code, "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    for name in order:
        row = dtypes.BY_NAME[tensors[name][0]]
        file.write(np.ascontiguousarray(values(name), row.numpy.newbyteorder("<")).tobytes())


def read_header(file: BinaryIO) -> tuple[dict[str, StoredTensor], dict[str, str]]:
    """The tensors and the metadata of a file; ValueError if it is malformed."""
    begin = file.tell()
    size = int.from_bytes(file.read(8), "little")
    total = file.seek(0, 2) - begin
    if not 2 <= size <= min(_HEADER_LIMIT, total - 8):
        raise ValueError("no header of a sensible length")
    file.seek(begin + 8)
    try:
        header = json.loads(file.read(size))
        notes = header.pop(_META, None) or {}
        wide = set(json.loads(notes.get(COMPLEX, "[]")))
        if not all(isinstance(text, str) for text in notes.values()):
            raise ValueError("metadata that is not text")
        found = {name: _entry(about, name in wide, begin + 8 + size) for name, about in header.items()}
    except (
        KeyError,
        TypeError,
        AttributeError,
        UnicodeDecodeError,
        RecursionError,
        json.JSONDecodeError,
    ) as e:
        raise ValueError(f"a malformed header: {type(e).__name__}: {e}") from e
    at = begin + 8 + size
    for entry in sorted(found.values(), key=lambda e: (e.start, e.nbytes)):
        if entry.start != at:
            raise ValueError("tensors that overlap or leave gaps")
        at += entry.nbytes
    if at != begin + total:
        raise ValueError("data that no tensor or no file covers")
    return found, notes


def _entry(about: dict[str, Any], wide: bool, base: int) -> StoredTensor:
    row = dtypes.BY_CODE.get(about["dtype"])
    if row is None or row.code == "C128":
        raise ValueError(f"a tensor of dtype {about['dtype']!r}, which gradd does not have")
    shape = tuple(about["shape"])
    begin, end = about["data_offsets"]
    if not all(type(n) is int and n >= 0 for n in (*shape, begin, end)):
        raise ValueError("sizes that are no whole numbers")
    if end - begin != math.prod(shape) * row.itemsize:
        raise ValueError("a tensor whose bytes do not match its shape")
    name = row.name
    if wide:
        if row.name != "float64" or shape[-1:] != (2,):
            raise ValueError("a complex128 tensor that is not stored as pairs of float64")
        name, shape = "complex128", shape[:-1]
    return StoredTensor(name, shape, base + begin, end - begin)
