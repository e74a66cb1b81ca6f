"""The device's memory: a pool of blocks, pointers into them, and views that must stay inside."""

from __future__ import annotations

import gc
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakValueDictionary, ref

import numpy as np

from .graphs import freed
from .machine import MACHINE, CUDARuntimeError

#: by their addresses, the arrays whose memory somebody asked the address of
_TOLD: WeakValueDictionary[int, Any] = WeakValueDictionary()
#: by geometry, memory of the device that was given back, where new arrays are to lie there
_FREE: defaultdict[Any, list[Any]] = defaultdict(list)
#: by the NumPy array that has it, memory of the device that is in use
_USED: WeakValueDictionary[int, PooledMemory] = WeakValueDictionary()
_REUSING = {"on": False}
#: what blocks are multiples of, in bytes
UNIT = 512


class OutOfMemoryError(MemoryError):
    """``cupy.cuda.memory.OutOfMemoryError``."""

    def __init__(self, size: int, total: int, limit: int = 0) -> None:
        text = f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes"
        super().__init__(text + (f", limit set to: {limit:,} bytes)." if limit else ")."))


class _Chunk:
    """What the pool has taken of a device at once, and how much of it is in use."""

    def __init__(self, device: int, size: int) -> None:
        self.device, self.size = device, size
        self.used = 0


class PooledMemory:
    """A part of a chunk, given back when nobody refers to it."""

    def __init__(self, pool: MemoryPool | None, chunk: _Chunk | None, size: int, device: int) -> None:
        self._pool, self._chunk = pool, chunk
        self.size, self.device_id = size, device
        #: the array that lies there
        self.filled: Any = None

    def lent(self) -> Any:
        """What tells whether it is in use; None where a graph's pool sees to that."""
        if self._chunk is None or self._pool is not POOL:
            return None
        a = self.filled
        return ref(self) if a is None else lambda: _USED.get(id(a))

    def fill(self, a: Any) -> Any:
        """An array that lies there: `a`, or its elements where memory was given back."""
        if self._pool is POOL and a.nbytes:
            with POOL._lock:
                free = _FREE[_geometry(a)] if _REUSING["on"] else []
                there = free.pop() if free else None
            if there is not None:
                there[...] = a
                a = there
            _USED[id(a)] = self
        self.filled = a
        return a

    def __del__(self) -> None:
        if self._pool is None or self._chunk is None:
            return
        self._pool._free(self._chunk, self.size)
        if self.filled is None:
            return
        if self._pool is not POOL:
            freed(self.filled)
        elif _REUSING["on"] and self.filled.flags.owndata:
            _FREE[_geometry(self.filled)].append(self.filled)


class MemoryPool:
    """``cupy.cuda.MemoryPool``. Parts of a chunk are not told apart: what is free of it is one part."""

    def __init__(self) -> None:
        self._chunks: list[_Chunk] = []
        self._limits: Counter[int] = Counter()
        self._lock = threading.RLock()

    def malloc(self, size: int) -> MemoryPointer:
        """A block: of what is free, or new memory of this thread's device."""
        size = -(-size // UNIT) * UNIT
        device = MACHINE.current
        if not size:
            return MemoryPointer(None, 0, PooledMemory(self, None, 0, device))
        with self._lock:
            room = [c for c in self._here(device) if c.size - c.used >= size]
            chunk = min(room, key=lambda c: c.size - c.used) if room else self._more(device, size)
            chunk.used += size
            return MemoryPointer(None, 0, PooledMemory(self, chunk, size, device))

    def _more(self, device: int, size: int) -> _Chunk:
        total, limit = self.total_bytes(), self._limits[device]
        if limit and total + size > limit:
            raise OutOfMemoryError(size, total, limit)
        for attempt in range(3):
            if attempt == 2:
                gc.collect()
            if attempt:
                self.free_all_blocks()
            try:
                chunk = _Chunk(MACHINE.malloc(size), size)
            except CUDARuntimeError as error:
                if error.status != 2:
                    raise
            else:
                self._chunks.append(chunk)
                return chunk
        raise OutOfMemoryError(size, total, limit)

    def _free(self, chunk: _Chunk, size: int) -> None:
        with self._lock:
            chunk.used -= size

    def _here(self, device: int | None = None) -> list[_Chunk]:
        device = MACHINE.current if device is None else device
        return [c for c in self._chunks if c.device == device]

    def free_all_blocks(self) -> None:
        """Give chunks of which nothing is in use back to this thread's device."""
        with self._lock:
            for chunk in self._here():
                if not chunk.used:
                    self._chunks.remove(chunk)
                    MACHINE.taken[chunk.device] -= chunk.size

    def gaps(self) -> list[int]:
        """Bytes of what is free, by chunk; CuPy's does not tell."""
        return [c.size - c.used for c in self._here() if c.size > c.used]

    def used_bytes(self) -> int:
        """Of blocks that are in use."""
        return sum(c.used for c in self._here())

    def total_bytes(self) -> int:
        """Of all that it has."""
        return sum(c.size for c in self._here())

    def set_limit(self, size: int | None = None) -> None:
        """Take no more than that of this thread's device; 0 or None: no limit."""
        self._limits[MACHINE.current] = size or 0


class MemoryPointer:
    """A place in a block, in bytes from its start. `mem` keeps the block."""

    def __init__(self, block: Any, offset: int, mem: PooledMemory) -> None:
        self.block = block
        self.offset = offset
        self.mem = mem

    def __add__(self, bytes_: int) -> MemoryPointer:
        return MemoryPointer(self.block, self.offset + int(bytes_), self.mem)

    @property
    def ptr(self) -> int:
        """The address. Memory of the pool that no array is in is NumPy's once somebody asks for it."""
        if self.block is None:
            roomy = np.empty(self.mem.size + UNIT - 1, np.uint8)
            begin = -_address(roomy) % UNIT
            self.block = roomy[begin : begin + self.mem.size]
        owner = _owner(self.block)
        _TOLD[_address(owner)] = owner
        return _address(self.block) + self.offset


POOL = MemoryPool()
_allocator: Callable[[int], MemoryPointer] = POOL.malloc
_own = threading.local()


def set_allocator(allocator: Callable[[int], MemoryPointer] | None = None) -> None:
    """``cupy.cuda.set_allocator``: arrays get their memory there."""
    global _allocator
    _allocator = POOL.malloc if allocator is None else allocator


@contextmanager
def using_allocator(allocator: Callable[[int], MemoryPointer] | None = None) -> Iterator[None]:
    """``cupy.cuda.using_allocator``: the same for this thread, as long as the block lasts."""
    before = getattr(_own, "allocator", None)
    _own.allocator = POOL.malloc if allocator is None else allocator
    try:
        yield
    finally:
        _own.allocator = before


def alloc(size: int) -> MemoryPointer:
    """``cupy.cuda.alloc``."""
    return (getattr(_own, "allocator", None) or _allocator)(size)


@contextmanager
def reusing(on: bool) -> Iterator[None]:
    """In the block new arrays lie where others of their geometry were, if `on`: as with CuPy's pool, most of
    what a step makes is where it was in the last one. Without it, most is elsewhere each time.
    """
    before, _REUSING["on"] = _REUSING["on"], on
    try:
        yield
    finally:
        _REUSING["on"] = before
        _FREE.clear()


def _geometry(a: Any) -> Any:
    return a.shape, a.dtype.str, a.strides


def _address(a: Any) -> int:
    return int(a.__array_interface__["data"][0])


def _owner(a: Any) -> Any:
    while isinstance(a.base, np.ndarray):
        a = a.base
    return a


def _flat(owner: Any) -> Any:
    """All octets of an array that has its memory. It fills that, in whatever order."""
    order = sorted(range(owner.ndim), key=lambda i: (-owner.strides[i], -owner.shape[i]))
    return owner.transpose(order).reshape(-1).view(np.uint8)


def memory_at(address: int, octets: int) -> Any:
    """The octets from an address on; AssertionError unless they lie in the memory of an array that lives,
    whose address somebody asked for.
    """
    for begin, owner in list(_TOLD.items()):
        if begin <= address and address + octets <= begin + owner.nbytes:
            return _flat(owner)[address - begin : address - begin + octets]
    raise AssertionError(f"{octets} bytes from address {address:#x} on are in no array")


def pointer(a: Any, mem: PooledMemory) -> MemoryPointer:
    """Where a NumPy array begins in the block that it lies in."""
    owner = _owner(a)
    return MemoryPointer(_flat(owner), _address(a) - _address(owner), mem)


def placed(at: MemoryPointer, shape: Sequence[int], dtype: Any, strides: Sequence[int]) -> Any:
    """An array of that geometry, strides in bytes; AssertionError if it reaches out of its block.

    CuPy does not look: such an array reads what another session has there.
    """
    dtype = np.dtype(dtype)
    if 0 in shape:
        return np.empty(shape, dtype)
    ends = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    low = at.offset + sum(e for e in ends if e < 0)
    high = at.offset + sum(e for e in ends if e > 0) + dtype.itemsize
    where = (
        f"a view of shape {tuple(shape)}, strides {tuple(strides)} and dtype {dtype} at byte {at.offset} "
        f"reaches bytes {low} to {high} of a block of {at.block.nbytes}"
    )
    assert low >= 0, where
    assert high <= at.block.nbytes, where
    return np.ndarray(tuple(shape), dtype, at.block, at.offset, tuple(strides))
