"""Guard bytes around every array of NumPy, and a pattern in memory that nobody has written yet.

NumPy asks a handler for the memory of arrays (NEP 49); the one here gives it a margin on both sides, which is
looked at when the memory is given back, and on demand. So a kernel that writes past an array of its own is
seen, and so is one that hands out what it never wrote. The handler is machine code of numba's: it is called
while exceptions are on their way, when no Python may run.

In front of each array lie 64 bytes that say what it is, and the first margin: what malloc gave, the array's
size, the arrays given out before and after it, and its patterns.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

#: bytes on each side; a multiple of 64, so that alignment stays
MARGIN = 256
HEAD = 64
#: what the margins and new memory hold, by turn: what a result owes to either is seen in a second run
EDGES, FRESH = (0xA7, 0x47), (0xB9, 0x3B)
#: most bytes of one array: what takes more is refused, as by a machine without memory
MOST = 1 << 29
#: the place of PyDataMem_SetHandler in NumPy's table of functions
_SET_HANDLER = 304

_STATE = np.zeros(8, np.uint64)
#: addresses of: the turn, the last array given out, how many writes were found beside arrays, their last size
_TURN, _LAST, _BROKEN, _SIZE = (_STATE.ctypes.data + 8 * n for n in range(4))
_c = ctypes.CDLL(None)


def _of_c(name: str, *arguments: Any) -> Any:
    return ctypes.CFUNCTYPE(ctypes.c_size_t, *arguments)(
        ctypes.cast(getattr(_c, name), ctypes.c_void_p).value
    )


_malloc, _free = _of_c("malloc", ctypes.c_size_t), _of_c("free", ctypes.c_size_t)
_memset = _of_c("memset", ctypes.c_size_t, ctypes.c_int, ctypes.c_size_t)
_memmove = _of_c("memmove", ctypes.c_size_t, ctypes.c_size_t, ctypes.c_size_t)


@intrinsic
def _load(context: Any, address: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(builder.inttoptr(args[0], ir.IntType(64).as_pointer()))

    return types.uintp(types.uintp), code


@intrinsic
def _store(context: Any, address: Any, word: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[1], builder.inttoptr(args[0], ir.IntType(64).as_pointer()))
        return context.get_dummy_value()

    return types.void(types.uintp, types.uintp), code


@intrinsic
def _byte(context: Any, address: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = builder.load(builder.inttoptr(args[0], ir.IntType(8).as_pointer()))
        return builder.zext(found, ir.IntType(64))

    return types.uintp(types.uintp), code


_u = np.uintp
_HEAD, _MARGIN, _MOST, _ALIGN = _u(HEAD), _u(MARGIN), _u(MOST), _u(64)
_AT_TURN, _AT_LAST, _AT_BROKEN, _AT_SIZE = _u(_TURN), _u(_LAST), _u(_BROKEN), _u(_SIZE)
# where in the head: what malloc gave, the size, the neighbours, the turn
_BASE, _BYTES, _BEFORE, _AFTER, _PATTERN = (_u(8 * n) for n in range(5))


@numba.njit
def _head(place: Any) -> Any:
    return place - _MARGIN - _HEAD


@numba.njit
def _take(size: Any, zero: Any) -> Any:
    if size > _MOST:
        return _u(0)
    base = _u(_malloc(size + _MARGIN + _MARGIN + _HEAD + _ALIGN))
    if base == _u(0):
        return _u(0)
    place = (base + _ALIGN - _u(1)) // _ALIGN * _ALIGN + _HEAD + _MARGIN
    turn = _load(_AT_TURN)
    edge, fresh = (0xA7, 0xB9) if turn == _u(0) else (0x47, 0x3B)
    _memset(place - _MARGIN, edge, _MARGIN)
    _memset(place, 0 if zero else fresh, size)
    _memset(place + size, edge, _MARGIN)
    head, last = _head(place), _load(_AT_LAST)
    _store(head + _BASE, base)
    _store(head + _BYTES, size)
    _store(head + _BEFORE, last)
    _store(head + _AFTER, _u(0))
    _store(head + _PATTERN, turn)
    if last != _u(0):
        _store(_head(last) + _AFTER, place)
    _store(_AT_LAST, place)
    return place


@numba.njit
def _look(place: Any) -> None:
    head = _head(place)
    size = _load(head + _BYTES)
    edge = _u(0xA7) if _load(head + _PATTERN) == _u(0) else _u(0x47)
    for n in range(_MARGIN):
        if _byte(place - _u(n) - _u(1)) != edge or _byte(place + size + _u(n)) != edge:
            _store(_AT_BROKEN, _load(_AT_BROKEN) + _u(1))
            _store(_AT_SIZE, size)
            # once is enough
            _memset(place - _MARGIN, edge, _MARGIN)
            _memset(place + size, edge, _MARGIN)
            return


@numba.njit
def _drop(place: Any) -> None:
    if place == _u(0):
        return
    _look(place)
    head = _head(place)
    before, after = _load(head + _BEFORE), _load(head + _AFTER)
    if before != _u(0):
        _store(_head(before) + _AFTER, after)
    if after != _u(0):
        _store(_head(after) + _BEFORE, before)
    else:
        _store(_AT_LAST, before)
    # what is read after it was given back is to be seen
    _memset(place, 0xD7, _load(head + _BYTES))
    _free(_load(head + _BASE))


@numba.njit
def _look_at_all() -> None:
    place = _load(_AT_LAST)
    while place != _u(0):
        _look(place)
        place = _load(_head(place) + _BEFORE)


@numba.cfunc("uintp(uintp, uintp)")
def _handler_malloc(ctx: Any, size: Any) -> Any:
    return _take(size, False)


@numba.cfunc("uintp(uintp, uintp, uintp)")
def _handler_calloc(ctx: Any, count: Any, size: Any) -> Any:
    return _take(count * size, True)


@numba.cfunc("uintp(uintp, uintp, uintp)")
def _handler_realloc(ctx: Any, place: Any, size: Any) -> Any:
    new = _take(size, False)
    if new != _u(0) and place != _u(0):
        _memmove(new, place, min(size, _load(_head(place) + _BYTES)))
        _drop(place)
    return new


@numba.cfunc("void(uintp, uintp, uintp)")
def _handler_free(ctx: Any, place: Any, size: Any) -> None:
    _drop(place)


class _Handler(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("ctx", ctypes.c_void_p),
        ("malloc", ctypes.c_void_p), ("calloc", ctypes.c_void_p), ("realloc", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
    )  # fmt: skip


_PARTS = (_handler_malloc, _handler_calloc, _handler_realloc, _handler_free)
_HANDLER = _Handler(b"guarded", 1, None, *(part.address for part in _PARTS))
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype = ctypes.py_object
_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _set_handler(handler: Any) -> Any:
    from numpy._core import _multiarray_umath as linked

    table = _pointer(linked._ARRAY_API, None)  # type: ignore[attr-defined]
    at = ctypes.c_void_p.from_address(table + _SET_HANDLER * ctypes.sizeof(ctypes.c_void_p)).value
    assert at is not None
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(at)(handler)


def turn(patterns: int) -> None:
    """Use the first or second set of patterns from here on."""
    _STATE[0] = patterns


def broken() -> str:
    """What was written beside an array since the last time, empty where nothing was."""
    _look_at_all()
    count, size = int(_STATE[2]), int(_STATE[3])
    _STATE[2] = 0
    return f"{count} arrays were written beside, one of {size} bytes" if count else ""


@contextmanager
def guarded() -> Iterator[None]:
    """Arrays made inside, in this context and in those copied from it, are guarded. They must not outlive the
    interpreter's modules: a process that made some ends by `os._exit`.
    """
    before = _set_handler(_capsule(ctypes.addressof(_HANDLER), b"mem_handler", None))
    try:
        yield
    finally:
        _set_handler(before)


@contextmanager
def guarded_in(context: Context) -> Iterator[None]:
    """The same for what runs in copies of another context."""
    inside = guarded()
    context.run(inside.__enter__)
    try:
        yield
    finally:
        context.run(inside.__exit__, None, None, None)
