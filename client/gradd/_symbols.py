"""PyTorch's functions on sizes that a compiler may not know yet: `torch.sym_max` and its like.

Every size is a number here, so each is the plain function, with PyTorch's checks. No value is ever of the
types `SymInt`, `SymFloat` and `SymBool`: they are there for `isinstance(n, (int, torch.SymInt))`.
"""

from __future__ import annotations

import math
from typing import Any

__all__ = [
    "SymBool", "SymFloat", "SymInt", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not",
    "sym_sqrt", "sym_sum",
]  # fmt: skip


class SymInt:
    """An integer that a compiler does not know yet."""


class SymFloat:
    """A number that a compiler does not know yet."""


class SymBool:
    """A truth value that a compiler does not know yet."""


SymInt.__module__ = SymFloat.__module__ = SymBool.__module__ = "torch"


def sym_int(a: Any) -> int:
    """`int(a)`."""
    return int(a)


def sym_float(a: Any) -> float:
    """`float(a)`."""
    return float(a)


def sym_not(a: Any) -> bool:
    """`not a`."""
    return not a


def sym_sqrt(a: Any) -> float:
    """`math.sqrt(a)`."""
    return math.sqrt(a)


def _numbers(a: Any, b: Any) -> bool:
    """Whether one of both is a float. AssertionError unless both are numbers."""
    for each in (a, b):
        if not isinstance(each, (int, float)):
            known = (int, float, SymInt, SymFloat)
            raise AssertionError(f"expected {known}, got {type(each)}")
    return isinstance(a, float) or isinstance(b, float)


def sym_max(a: Any, b: Any) -> Any:
    """The larger one, a float if one of them is."""
    return float(max(a, b)) if _numbers(a, b) else max(a, b)


def sym_min(a: Any, b: Any) -> Any:
    """The smaller one, a float if one of them is."""
    return float(min(a, b)) if _numbers(a, b) else min(a, b)


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """`t if b else f`. AssertionError unless `b` is a bool, and both are of one type."""
    if not isinstance(b, bool):
        raise AssertionError(f"expected SymBool or bool, got {type(b)}")
    if type(t) is not type(f):
        raise AssertionError(f"type mismatch: {type(t)} vs {type(f)}")
    return t if b else f


def sym_sum(*args: Any) -> Any:
    """The sum of numbers, or of one list of them."""
    return sum(args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args)
