"""The checksum of a snapshot that is large: several threads make it, and it finds what that of a small one
does.
"""

from __future__ import annotations

import hashlib
import io
import random
import threading

import numpy as np
import pytest
from gradd_protocol.safetensors import head
from gradd_runtime.store import BadSnapshot, Snapshot, checksum, parts, read
from gradd_runtime.store.snapshot import KEY, verify


@pytest.fixture(scope="module")
def large() -> bytes:
    """A file with threads at work: tensors of no, one, several and many pieces."""
    numbers = np.random.default_rng(3)
    sizes = (0, 1, 1000, checksum.PIECE, 3 * checksum.PIECE + 5)
    arrays = {f"x{n}": numbers.integers(0, 256, size, np.uint8) for n, size in enumerate(sizes)}
    return b"".join(parts(Snapshot(b'{"about": 1}', arrays)))


def test_it_is_read_as_it_was_written(large: bytes) -> None:
    found = read(io.BytesIO(large))
    verify(io.BytesIO(large))
    assert found.state == b'{"about": 1}'
    assert b"".join(parts(found)) == large
    assert all(array.flags.writeable for array in found.arrays.values())


def test_a_turned_bit_is_found_wherever_it_is(large: bytes) -> None:
    dice = random.Random(5)
    for at in (*(dice.randrange(len(large)) for _ in range(4)), len(large) - 1):
        spoiled = bytearray(large)
        spoiled[at] ^= 1 << dice.randrange(8)
        for look in (read, verify):
            with pytest.raises(BadSnapshot):
                look(io.BytesIO(spoiled))


def test_pieces_in_each_others_place_are_found(large: bytes) -> None:
    size = checksum.PIECE
    begin = large.index(read(io.BytesIO(large)).arrays["x4"][:64].tobytes())
    first, second, rest = (large[begin + n * size : begin + (n + 1) * size] for n in (0, 1, 2))
    spoiled = large[:begin] + second + first + rest + large[begin + 3 * size :]
    assert len(spoiled) == len(large)
    with pytest.raises(BadSnapshot, match="its checksum is another"):
        read(io.BytesIO(spoiled))


@pytest.mark.parametrize("cut", [1, 33, checksum.PIECE, 2 * checksum.PIECE + 1])
def test_a_lost_end_is_found_and_no_thread_is_left(large: bytes, cut: int) -> None:
    for look in (read, verify):
        with pytest.raises(BadSnapshot):
            look(io.BytesIO(large[:-cut]))
    assert [t.name for t in threading.enumerate() if t.name.startswith("gradd-checksum")] == []


@pytest.mark.parametrize("size", [1000, checksum.PIECE, 4 * checksum.PIECE + 3])
def test_a_file_of_the_first_format_is_read(size: int) -> None:
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    layout = {"gradd/state": ("uint8", (2,)), "x": ("uint8", (size,)), "gradd/checksum": ("uint8", (32,))}
    body = b"".join([head(layout, {KEY: "1"}), b"{}", data.tobytes()])
    whole = body + hashlib.blake2b(body, digest_size=32).digest()
    np.testing.assert_array_equal(read(io.BytesIO(whole)).arrays["x"], data)
    verify(io.BytesIO(whole))
    spoiled = bytearray(whole)
    spoiled[-40] ^= 1
    with pytest.raises(BadSnapshot):
        read(io.BytesIO(spoiled))
