"""The safetensors layout: u64 header length, JSON header, little-endian C-ordered data without gaps.

The format has no complex128: such a tensor is stored as F64 with a last axis of 2, its name listed in the
file's metadata under ``gradd.complex128``. Source: https://github.com/huggingface/safetensors#format
"""

import json
import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from . import dtypes

COMPLEX: Final = "gradd.complex128"
_HEADER_LIMIT: Final = 100_000_000  # bytes; what other readers of the format accept
_META: Final = "__metadata__"

About = tuple[str, tuple[int, ...]]
"""NumPy name of a dtype, and a shape."""


class StoredTensor(NamedTuple):
    """One tensor of a file: NumPy name of its dtype, shape, and its bytes' place in the file."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    nbytes: int

    def array(self, data: "bytes | bytearray | np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        """The tensor whose bytes these are, without a copy."""
        return np.frombuffer(data, dtypes.BY_NAME[self.dtype].numpy).reshape(self.shape)


def order(tensors: Mapping[str, About]) -> list[str]:
    """The names as they lie in a file: large elements first, so that each tensor is aligned."""
    return sorted(tensors, key=lambda name: (-dtypes.BY_NAME[tensors[name][0]].itemsize, name))


def head(tensors: Mapping[str, About], metadata: Mapping[str, str]) -> bytes:
    """All that stands before the data of `tensors`, which lie in their order; a multiple of 8 bytes."""
    wide = [name for name, (dtype, _) in tensors.items() if dtype == "complex128"]
    notes = {**metadata, COMPLEX: json.dumps(wide)} if wide else dict(metadata)
    header: dict[str, Any] = {_META: notes} if notes else {}
    at = 0
    for name, (dtype, of) in tensors.items():
        row, shape = dtypes.BY_NAME[dtype], list(of)
        end = at + math.prod(shape) * row.itemsize
        code, shape = ("F64", [*shape, 2]) if row.name == "complex128" else (row.code, shape)
        header[name] = {"dtype": code, "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def header_size(first: bytes, total: int) -> int:
    """Bytes of the JSON header of a file of `total` bytes that begins with `first` (8 bytes). ValueError
    where that cannot be.
    """
    size = int.from_bytes(first, "little")
    if not 2 <= size <= min(_HEADER_LIMIT, total - 8):
        raise ValueError("no header of a sensible length")
    return size


def read_head(text: bytes, total: int) -> tuple[dict[str, StoredTensor], dict[str, str]]:
    """The tensors, in the order of the header, and the metadata of a file of `total` bytes, whose JSON header
    is `text`. ValueError for anything that is not a well-formed one.
    """
    base = 8 + len(text)
    try:
        header = json.loads(text)
        notes = header.pop(_META, None) or {}
        wide = set(json.loads(notes.get(COMPLEX, "[]")))
        if not all(isinstance(text, str) for text in notes.values()):
            raise ValueError("metadata that is not text")
        found = {name: _entry(about, name in wide, base) for name, about in header.items()}
    except (
        KeyError,
        TypeError,
        AttributeError,
        UnicodeDecodeError,
        RecursionError,
        json.JSONDecodeError,
    ) as e:
        raise ValueError(f"a malformed header: {type(e).__name__}: {e}") from e
    at = base
    for entry in sorted(found.values(), key=lambda e: (e.start, e.nbytes)):
        if entry.start != at:
            raise ValueError("tensors that overlap or leave gaps")
        at += entry.nbytes
    if at != total:
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
