"""The checksum of a snapshot, made by several threads beside who reads or writes it."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

DIGEST = 32
"""Bytes of a checksum."""
PIECE = 1 << 22
"""Bytes that are hashed or read at a time: the leaves of the tree."""

_THREADS = 4
#: bytes from which threads are worth their start
_WORTH = 1 << 24
#: pieces that may wait to be hashed
_AHEAD = 16


class Checksum:
    """The BLAKE2b digest of a file's head and then the digests of its pieces: a tensor is cut into pieces of
    `PIECE` bytes, the last of which is what is left. If `chained`, as in format 1: of all bytes in order.

    `total`: about how many bytes will come. A context manager: at its end no piece is looked at any more.
    """

    def __init__(self, head: bytes, total: int, chained: bool = False) -> None:
        self._digest = hashlib.blake2b(head, digest_size=DIGEST)
        self._leaf: Callable[[Any], bytes | None] = self._digest.update if chained else _leaf
        threads = 1 if chained else min(_THREADS, len(os.sched_getaffinity(0)))
        self._pool = ThreadPoolExecutor(threads, "gradd-checksum") if total >= _WORTH else None
        self._made: deque[Future[bytes | None]] = deque()

    def __enter__(self) -> Checksum:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def add(self, piece: memoryview) -> None:
        """The next piece, whose bytes stay as they are. May wait for earlier ones."""
        if self._pool is None:
            self._take(self._leaf(piece))
            return
        self._made.append(self._pool.submit(self._leaf, piece))
        if len(self._made) > _AHEAD:
            self._take(self._made.popleft().result())

    def _take(self, leaf: bytes | None) -> None:
        if leaf is not None:
            self._digest.update(leaf)

    def result(self) -> bytes:
        """The digest of what has come."""
        while self._made:
            self._take(self._made.popleft().result())
        return self._digest.digest()


def _leaf(piece: memoryview) -> bytes:
    return hashlib.blake2b(piece, digest_size=DIGEST).digest()
