"""C++ expressions for what a fused kernel computes of an element: NumPy's ufuncs, activations, casts.

A value's type is a dtype's character; half and bfloat16 are float32 numbers that were rounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

#: the type in which a value of a dtype is held
HELD = {
    "f": "float", "d": "double", "q": "i64", "l": "i64", "i": "int", "h": "short", "b": "signed char",
    "B": "u8", "?": "bool", "e": "float", "E": "float",
}  # fmt: skip
#: the type in which memory has it
STORED = {**HELD, "?": "u8", "e": "Half", "E": "BFloat"}
_REALS = "fd"
_WHOLE = "qlihbB"

#: C's functions of one or two floating-point numbers
_FUNCTIONS = {
    "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctan2": "atan2", "arctanh": "atanh", "ceil": "ceil", "copysign": "copysign", "cos": "cos",
    "cosh": "cosh", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "fabs": "fabs", "floor": "floor",
    "fmax": "fmax", "fmin": "fmin", "hypot": "hypot", "log": "log", "log10": "log10", "log1p": "log1p",
    "log2": "log2", "power": "pow", "rint": "rint", "sin": "sin", "sinh": "sinh", "sqrt": "sqrt",
    "tan": "tan", "tanh": "tanh", "trunc": "trunc",
}  # fmt: skip
#: ufuncs of numbers, and of truth values where they differ
_OF_NUMBERS = {
    "absolute": "x < 0 ? -x : x", "add": "x + y", "maximum": "x > y || x != x ? x : y",
    "minimum": "x < y || x != x ? x : y", "multiply": "x * y", "negative": "-x", "positive": "x",
    "conjugate": "x", "square": "x * x", "subtract": "x - y",
    "sign": "x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x",
    "bitwise_and": "x & y", "bitwise_or": "x | y", "bitwise_xor": "x ^ y", "invert": "~x",
}  # fmt: skip
_OF_TRUTHS = {
    "add": "x || y", "bitwise_and": "x && y", "bitwise_or": "x || y", "bitwise_xor": "x != y",
    "invert": "!x", "maximum": "x || y", "minimum": "x && y", "multiply": "x && y",
}  # fmt: skip
#: ufuncs that give truth values, of whatever; if their names begin with "is", of floating-point numbers
_TRUTHS = {
    "equal": "x == y", "greater": "x > y", "greater_equal": "x >= y", "less": "x < y",
    "less_equal": "x <= y", "not_equal": "x != y", "logical_and": "x != 0 && y != 0",
    "logical_not": "x == 0", "logical_or": "x != 0 || y != 0", "logical_xor": "(x != 0) != (y != 0)",
    "isfinite": "x - x == 0", "isinf": "x == x && x - x != 0", "isnan": "x != x",
}  # fmt: skip
_WHOLE_ONLY = frozenset({"bitwise_and", "bitwise_or", "bitwise_xor", "invert"})


def ufunc(name: str, kinds: str, operands: Sequence[str]) -> str | None:
    """What a ufunc computes for `kinds`, such as ``ff->f``, or `where`, or a cast called `astype`; None where
    that is not known.
    """
    given, _, made = kinds.partition("->")
    if not set(kinds.replace("->", "")) <= HELD.keys():
        return None
    if name == "astype":
        return cast(operands[0], given, made)
    text = _text(name, given, made)
    if text is None:
        return None
    return f"({HELD[made]})({named(text, operands, made)})"


def named(text: str, operands: Sequence[str], kind: str) -> str:
    """An expression with its operands in place of x, y and z, and its type in place of T."""
    names = {**dict(zip("xyz", operands, strict=False)), "T": HELD[kind]}
    return "".join(names[c] if c in names and _alone(text, n) else c for n, c in enumerate(text))


def _alone(text: str, n: int) -> bool:
    """Whether a letter is a name of its own."""
    beside = text[max(n - 1, 0) : n] + text[n + 1 : n + 2]
    return not any(c.isalnum() or c == "_" for c in beside)


def _text(name: str, given: str, made: str) -> str | None:
    kind = given[0]
    if name == "where":
        return "x ? y : z" if given[1] == given[2] == made else None
    if len(set(given)) > 1:
        return None
    if name in _TRUTHS:
        fits = made == "?" and (kind in _REALS or not name.startswith("is"))
        return _TRUTHS[name] if fits else None
    if made != kind:
        return None
    if kind == "?":
        return _OF_TRUTHS.get(name)
    if kind in _REALS:
        if name in ("divide", "reciprocal"):
            return "x / y" if name == "divide" else "1 / x"
        if name == "absolute":
            name = "fabs"
        if name in _FUNCTIONS:
            end = "f" if kind == "f" else ""
            return f"{_FUNCTIONS[name]}{end}({'x, y' if len(given) == 2 else 'x'})"
        return None if name in _WHOLE_ONLY else _OF_NUMBERS.get(name)
    return _OF_NUMBERS.get(name) if kind in _WHOLE else None


def cast(value: str, before: str, after: str) -> str | None:
    """A value in another dtype; None where there is no cast."""
    if not {before, after} <= HELD.keys():
        return None
    if before == after or (HELD[before] == HELD[after] and after not in "eE?"):
        return value
    if after == "?":
        return f"({value} != 0)"
    if after in "eE":
        return f"wide(narrow<{STORED[after]}>((float){value}))"
    return f"(({HELD[after]}){value})"


def literal(number: Any) -> str:
    """A NumPy scalar as C++ writes it."""
    kind = number.dtype.char
    if kind == "?":
        return "true" if number else "false"
    if kind not in _REALS:
        return f"(({HELD[kind]}){int(number)}LL)" if int(number) > -(1 << 63) else "((i64)1 << 63)"
    if np.isfinite(number):
        return f"(({HELD[kind]}){float(number).hex()})"
    return f"(({HELD[kind]})bits_float(0x{int(np.float32(number).view(np.uint32)):08X}u))"
