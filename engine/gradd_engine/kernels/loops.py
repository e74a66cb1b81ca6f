"""NumPy's inner loops, and one compiled function that runs a list of them.

An array expression of a few elements spends its time on the way to NumPy's loop, not in it. Here the way is
taken once: a row says which loop runs over which memory, and `sweep` runs rows one after another. Same loops,
counts and strides as NumPy's own calls mean the same bits.

The layout of ufunc objects is read where NumPy declares it, and checked before anything is called.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from .native import INT64, OPERANDS, call_inner_loop, compiled

#: eight-byte numbers of a row: loop, data, count, and strides and addresses of three operands
ROW = 3 + 2 * OPERANDS
#: places in PyUFuncObject: nin, nout and nargs; loops; their data; how many there are
_COUNTS, _LOOPS, _DATA, _NTYPES, _SIZE = 16, 32, 40, 48, 56

#: functions whose loops never raise, whatever the values
_OF_ALL = frozenset({
    "absolute", "add", "bitwise_and", "bitwise_or", "bitwise_xor", "conjugate", "equal", "fabs", "fmax",
    "fmin", "greater", "greater_equal", "invert", "isfinite", "isinf", "isnan", "less", "less_equal",
    "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative",
    "not_equal", "positive", "sign", "signbit", "square", "subtract",
})  # fmt: skip
#: those whose loops never raise over floats; what they do to integers is not looked at
_OF_FLOATS = frozenset({
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "ceil", "copysign", "cos",
    "cosh", "divide", "exp", "exp2", "expm1", "floor", "hypot", "log", "log10", "log1p", "log2", "logaddexp",
    "logaddexp2", "power", "reciprocal", "rint", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
})  # fmt: skip


@compiled(INT64, INT64, nogil=False)
def sweep(rows: int, count: int) -> None:
    """Run `count` rows of ROW numbers from address `rows` on, one after another."""
    for n in range(count):
        call_inner_loop(rows + n * 8 * ROW)


def inner(ufunc: Any, kinds: str) -> tuple[int, int] | None:
    """The addresses of a ufunc's loop for `kinds`, such as ``ff->f``, and of the loop's data; None where it
    has none, or one that might raise.
    """
    name, inputs = ufunc.__name__, kinds.split("->")[0]
    sure = name in _OF_ALL or (name in _OF_FLOATS and set(inputs) <= set("fdFD"))
    if not sure or not set(kinds) <= set("?bBhHiIlLqQfdFD->") or kinds not in ufunc.types:
        return None
    own: Any = getattr(np, name, None)
    if ufunc is not own or ufunc.nout != 1 or not 0 < ufunc.nin < OPERANDS:
        return None
    at: int = own.types.index(kinds)
    loops, data = (ctypes.c_void_p.from_address(id(ufunc) + place).value for place in (_LOOPS, _DATA))
    if not loops or not data:
        return None
    loop = ctypes.c_void_p.from_address(loops + 8 * at).value
    return (loop, ctypes.c_void_p.from_address(data + 8 * at).value or 0) if loop else None


def works() -> bool:
    """Whether ufuncs are laid out here as this module takes it, and a loop that is called computes."""
    if ctypes.sizeof(ctypes.c_void_p) != 8 or type(np.add).__basicsize__ < _SIZE:
        return False
    for ufunc in (np.add, np.negative):
        numbers = [ctypes.c_int.from_address(id(ufunc) + _COUNTS + 4 * k).value for k in range(3)]
        known = ctypes.c_int.from_address(id(ufunc) + _NTYPES).value
        if numbers != [ufunc.nin, ufunc.nout, ufunc.nargs] or known != len(ufunc.types):
            return False
    found = inner(np.add, "ff->f")
    if found is None:
        return False
    a = np.array([1, 2, 3, 0, 0, 0], np.float32)
    row = np.array([*found, 3, 4, 0, 4, a.ctypes.data, a.ctypes.data + 4, a.ctypes.data + 12], np.int64)
    sweep(row.ctypes.data, 1)
    return bool(a.tolist() == [1, 2, 3, 3, 4, 5])
