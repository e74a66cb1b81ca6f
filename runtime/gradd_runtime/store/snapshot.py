"""The file of a snapshot: plain safetensors, with all that is no named tensor under ``gradd/``.

Tensors that users named, and their gradients, stand under their names, so that other readers of the format
open them. ``gradd/state`` is JSON; ``gradd/<n>`` are arrays that it speaks of. The last 32 bytes, the tensor
``gradd/checksum``, are the digest of all bytes before them (`Checksum`).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from gradd_protocol import dtypes
from gradd_protocol.limits import DEFAULT
from gradd_protocol.safetensors import head, header_size, order, read_head

from .checksum import DIGEST, PIECE, Checksum

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Array = np.ndarray[Any, Any]

RESERVED = "gradd/"
#: says that a file is a snapshot, and of which format
KEY, FORMAT = "gradd.snapshot", "2"
#: the first one, whose checksum is chained
_CHAINED = "1"
_STATE, _CHECKSUM = "gradd/state", "gradd/checksum"


def most_bytes(limit: int) -> int:
    """Bytes of a file whose session holds at most `limit`: its views are copied as well."""
    return 2 * limit + DEFAULT.snapshot_state_bytes


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
    layout = {name: about[name] for name in names} | {_CHECKSUM: ("uint8", (DIGEST,))}
    first = head(layout, {KEY: FORMAT})
    yield first
    with Checksum(first, sum(a.nbytes for a in arrays.values())) as checksum:
        for name in names:
            data = np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data
            for piece in _pieces(data):
                checksum.add(piece)
            yield data
        yield checksum.result()


def read(file: BinaryIO) -> Snapshot:
    """A snapshot from a file that can seek; each array has memory of its own, which can be written to.

    Raises BadSnapshot for a file that is not, byte by byte, what `parts` gave.
    """
    entries, total, checksum = _begin(file)
    arrays: dict[str, Array] = {}
    with checksum:
        for name, entry in entries.items():
            if name == _CHECKSUM:
                break
            if entry.start != file.tell():
                raise BadSnapshot("the snapshot's tensors are out of order")
            data = np.empty(entry.nbytes, np.uint8)
            for piece in _pieces(data.data):
                _fill(file, piece)
                checksum.add(piece)
            arrays[name] = data.view(dtypes.BY_NAME[entry.dtype].numpy).reshape(entry.shape)
        _check(file, total, checksum)
    state = arrays.pop(_STATE, None)
    if state is None:
        raise BadSnapshot("the snapshot has no state")
    return Snapshot(state.tobytes(), arrays)


def verify(file: BinaryIO) -> None:
    """Read such a file piece by piece, and keep nothing. Raises BadSnapshot as `read` does, but for what its
    sound bytes may say.
    """
    entries, total, checksum = _begin(file)
    with checksum:
        for name, entry in entries.items():
            if name != _CHECKSUM:
                for begin in range(0, entry.nbytes, PIECE):
                    piece = memoryview(bytearray(min(PIECE, entry.nbytes - begin)))
                    _fill(file, piece)
                    checksum.add(piece)
        _check(file, total, checksum)


def _begin(file: BinaryIO) -> tuple[dict[str, Any], int, Checksum]:
    """The tensors that a file's head speaks of, the bytes it has, and the checksum, of the head so far."""
    try:
        first = file.read(8)
        total = file.seek(0, 2)
        file.seek(8)
        text = file.read(header_size(first, total))
        entries, notes = read_head(text, total)
    except ValueError as error:
        raise BadSnapshot(f"this is no snapshot: {error}") from None
    if notes.get(KEY) not in (_CHAINED, FORMAT):
        raise BadSnapshot(f"this is no snapshot of format {_CHAINED} or {FORMAT}")
    return entries, total, Checksum(first + text, total, notes[KEY] == _CHAINED)


def _pieces(data: memoryview) -> Iterator[memoryview]:
    return (data[begin : begin + PIECE] for begin in range(0, len(data), PIECE))


def _fill(file: BinaryIO, piece: memoryview) -> None:
    while piece:
        count = file.readinto(piece)  # type: ignore[attr-defined]
        if not count:
            raise BadSnapshot("the snapshot ends too early")
        piece = piece[count:]


def _check(file: BinaryIO, total: int, checksum: Checksum) -> None:
    if file.tell() != total - DIGEST or file.read() != checksum.result():
        raise BadSnapshot("the snapshot is damaged: its checksum is another")
