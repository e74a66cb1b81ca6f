"""Kernels as rows for NumPy's inner loops: the same loops, counts and strides as in NumPy's own calls, and
so the same bits. A kernel for which that is not certain has no rows.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .recipes import recipe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .lower import Plain
    from .recipes import Recipe

#: kinds of kernels that a process remembers; programs have few
KINDS = 4096
#: whether NumPy copies inputs that are repeated along some axes into a buffer, and calls its loop once
_BUFFERS = np.lib.NumpyVersion(np.__version__) >= "2.4.0"


class RowOperand(NamedTuple):
    """What a row reads: a number, or by its place in the kernel's inputs and then its results, an array. An
    input that no sweep made is copied to `form`.
    """

    at: int
    number: bytes
    form: tuple[int, ...]
    stride: int


class LoopRow(NamedTuple):
    """A call of a ufunc's loop."""

    loop: tuple[int, int]
    operands: tuple[RowOperand, ...]
    dtypes: tuple[Any, ...]
    shape: tuple[int, ...]
    times: int
    nbytes: int


class RanKernel(NamedTuple):
    """A kernel that ran: what it was given, and what it gave."""

    step: int
    kernel: Plain
    given: Sequence[Any]
    found: Any


_known: dict[Any, tuple[LoopRow, ...] | None] = {}


def rows_of(loops: Any, done: RanKernel, made: tuple[bool, ...]) -> tuple[LoopRow, ...] | None:
    """The rows of a kernel; `made`: which of its inputs results of the same sweep are. None if it must be
    called. Whatever it depends on is its key, so that a process finds each kind of kernel out once.
    """
    kernel = done.kernel
    plain = kernel.direct is not None
    run, attrs = (kernel.direct, {}) if plain else (kernel.impl, kernel.attrs)
    told = tuple([(n, type(v), repr(v)) for n, v in attrs.items()]) if attrs else ()
    geometry = tuple([(a.shape, a.strides, a.dtype) for a in done.given])
    result = tuple(kernel.meta.shape), kernel.meta.dtype.np
    key = (run, told, geometry, made, result)
    try:
        return _known[key]  # sessions in other threads may forget all of it at any time
    except KeyError:
        if len(_known) >= KINDS:
            _known.clear()
        calls = recipe(run, None if plain else kernel.xp, [(g[0], g[2]) for g in geometry], attrs, result)
        found = _known[key] = None if calls is None else _made_of(calls, loops, done.given, made)
        return found


def _made_of(
    calls: Recipe, loops: Any, given: Sequence[Any], made: tuple[bool, ...]
) -> tuple[LoopRow, ...] | None:
    rows: list[LoopRow] = []
    for call in calls:
        loop = loops.inner(call.ufunc, call.kinds)
        if loop is None:
            return None
        operands = []
        repeats = whole = False
        dtypes = tuple([np.dtype(char) for char in call.kinds.replace("->", "")])
        for (at, number), dtype in zip(call.operands, dtypes, strict=False):
            form: tuple[int, ...] | None = ()
            if number:
                stride: int | None = 0
            elif at < len(given) and not made[at]:
                form = _form(given[at], call.shape)
                stride = dtype.itemsize if form == call.shape and form else 0
                whole = whole or given[at].shape == call.shape
                repeats = repeats or (stride > 0 and given[at].shape != call.shape)
            else:
                shape = given[at].shape if at < len(given) else rows[at - len(given)].shape
                stride = _stride(shape, call.shape, dtype.itemsize)
                whole = whole or shape == call.shape
            if form is None or stride is None:
                return None
            operands.append(RowOperand(at, number, form, stride))
        if repeats and not whole:
            return None  # NumPy may call its loop several times
        count = prod(call.shape)
        rows.append(LoopRow(loop, tuple(operands), dtypes, call.shape, count, count * dtypes[-1].itemsize))
    return tuple(rows)


def _stride(shape: tuple[int, ...], into: tuple[int, ...], itemsize: int) -> int | None:
    """The stride that NumPy gives its loop for a row-major operand; None if it would repeat some of it."""
    if shape == into:
        return itemsize if shape else 0
    if prod(shape) == 1:
        return 0 if not shape or prod(into) > 1 else None
    return None


def _form(a: Any, into: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape to which an input is copied: that of the result, or of one element; None if NumPy gives its
    loop another stride than the one of such a copy.
    """
    if a.ndim == 0:
        return ()
    count = prod(into)
    if a.shape == into and a.flags.c_contiguous and a.strides[-1] == a.itemsize:
        return into
    if count > 1 and all(n == 1 or s == 0 for n, s in zip(a.shape, a.strides, strict=True)):
        return tuple([1] * a.ndim)
    if _BUFFERS and count > 1 and a.shape != into and a.flags.c_contiguous:
        return into
    return None
