"""The file of a snapshot: plain safetensors, with all that is no named tensor under ``gradd/``.

Tensors that users named, and their gradients, stand under their names, so that other readers of the format
open them. ``gradd/state`` is JSON; ``gradd/<n>`` are arrays that it speaks of. The last 32 bytes, the tensor
``gradd/checksum``, are the BLAKE2b digest of all bytes before them.
"""

from __future__ import annotations

import hashlib
import sys
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from gradd_protocol import dtypes
from gradd_protocol.safetensors import head, header_size, order, read_head

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Array = np.ndarray[Any, Any]

RESERVED = "gradd/"
#: says that a file is a snapshot, and of which format
KEY, FORMAT = "gradd.snapshot", "1"
_STATE, _CHECKSUM = "gradd/state", "gradd/checksum"
_DIGEST = 32
#: bytes that are hashed or read at a time
_PIECE = 1 << 22


class BadSnapshot(ValueError):
    """A file that is no snapshot, of another format, or damaged."""


class Snapshot(NamedTuple):
    """What a file holds: JSON, and arrays by the name of their tensor in the file."""

    state: bytes
    arrays: Mapping[str, Array]


def parts(snapshot: Snapshot) -> Iterator[bytes | memoryview]:
    """The file, to be written piece by piece. Arrays are not copied where they are C-ordered: they are to be
    written before anything else runs.
    """
    assert sys.byteorder == "little", "arrays would have to be turned"
    arrays = {**snapshot.arrays, _STATE: np.frombuffer(snapshot.state, np.uint8)}
    about = {name: (dtypes.of(a.dtype).name, tuple(a.shape)) for name, a in arrays.items()}
    names = order(about)
    layout = {name: about[name] for name in names} | {_CHECKSUM: ("uint8", (_DIGEST,))}
    digest = hashlib.blake2b(digest_size=_DIGEST)
    first = head(layout, {KEY: FORMAT})
    digest.update(first)
    yield first
    for name in names:
        piece = np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data
        digest.update(piece)
        yield piece
    yield digest.digest()


def read(file: BinaryIO) -> Snapshot:
    """A snapshot from a file that can seek; each array has memory of its own, which can be written to.

    Raises BadSnapshot for a file that is not, byte by byte, what `parts` gave.
    """
    entries, total, digest = _begin(file)
    arrays: dict[str, Array] = {}
    for name, entry in entries.items():
        if name == _CHECKSUM:
            break
        if entry.start != file.tell():
            raise BadSnapshot("the snapshot's tensors are out of order")
        data = np.empty(entry.nbytes, np.uint8)
        _fill(file, data, digest)
        arrays[name] = data.view(dtypes.BY_NAME[entry.dtype].numpy).reshape(entry.shape)
    if file.tell() != total - _DIGEST or file.read() != digest.digest():
        raise BadSnapshot("the snapshot is damaged: its checksum is another")
    state = arrays.pop(_STATE, None)
    if state is None:
        raise BadSnapshot("the snapshot has no state")
    return Snapshot(state.tobytes(), arrays)


def verify(file: BinaryIO) -> None:
    """Read such a file piece by piece, and keep nothing. Raises BadSnapshot as `read` does, but for what its
    sound bytes may say.
    """
    _, total, digest = _begin(file)
    while left := total - _DIGEST - file.tell():
        piece = file.read(min(left, _PIECE))
        if not piece or left < 0:
            raise BadSnapshot("the snapshot ends too early")
        digest.update(piece)
    if file.read() != digest.digest():
        raise BadSnapshot("the snapshot is damaged: its checksum is another")


def _begin(file: BinaryIO) -> tuple[dict[str, Any], int, Any]:
    """The tensors that a file's head speaks of, the bytes it has, and the digest of the head."""
    try:
        first = file.read(8)
        total = file.seek(0, 2)
        file.seek(8)
        text = file.read(header_size(first, total))
        entries, notes = read_head(text, total)
    except ValueError as error:
        raise BadSnapshot(f"this is no snapshot: {error}") from None
    if notes.get(KEY) != FORMAT:
        raise BadSnapshot(f"this is no snapshot of format {FORMAT}")
    return entries, total, hashlib.blake2b(first + text, digest_size=_DIGEST)


def _fill(file: BinaryIO, data: Array, digest: Any) -> None:
    """Read into `data`, and into the digest."""
    rest = data.data
    while rest:
        count = file.readinto(rest[:_PIECE])  # type: ignore[attr-defined]
        if not count:
            raise BadSnapshot("the snapshot ends too early")
        digest.update(rest[:count])
        rest = rest[count:]
