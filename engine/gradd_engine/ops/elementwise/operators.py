"""Python's operators on tensors, one op each; operands of foreign types get NotImplemented."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import dtypes
from ...declare import attach_as_is
from ...tensor import Tensor
from ..shared import NUMBERS
from . import arithmetic, binary, comparison, rounding
from . import unary as elementwise

if TYPE_CHECKING:
    from collections.abc import Callable


_SURE = frozenset(NUMBERS)


def _operand(x: Any) -> Any:
    """A tensor or Python number (NumPy scalars are converted); NotImplemented for anything else."""
    if isinstance(x, (np.number, np.bool_)):
        return x.item()
    return x if isinstance(x, (Tensor, *NUMBERS)) else NotImplemented


def _attach(name: str, fn: Callable[[Any, Any], Any]) -> None:
    def operator(self: Tensor, other: Any) -> Any:
        if isinstance(other, Tensor) or other.__class__ in _SURE:
            return fn(self, other)
        operand = _operand(other)
        return NotImplemented if operand is NotImplemented else fn(self, operand)

    operator.__name__ = name
    attach_as_is(name, operator)


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": arithmetic.add,
    "sub": arithmetic.sub,
    "mul": arithmetic.mul,
    "truediv": arithmetic.div,
    "floordiv": rounding.floor_divide,
    "mod": rounding.remainder,
    "pow": binary.pow,
    "and": comparison.bitwise_and,
    "or": comparison.bitwise_or,
    "xor": comparison.bitwise_xor,
    "lshift": comparison.bitwise_left_shift,
    "rshift": comparison.bitwise_right_shift,
}

_REFLECTED: dict[str, Callable[[Any, Any], Any]] = {
    "add": arithmetic.add,
    "sub": arithmetic.rsub,
    "mul": arithmetic.mul,
    "floordiv": lambda a, b: rounding.floor_divide(b, a),
    "mod": lambda a, b: rounding.remainder(b, a),
    "pow": lambda a, b: binary.pow(b, a),
    "and": comparison.bitwise_and,
    "or": comparison.bitwise_or,
    "xor": comparison.bitwise_xor,
    "lshift": lambda a, b: comparison.bitwise_left_shift(b, a),
    "rshift": lambda a, b: comparison.bitwise_right_shift(b, a),
}

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(comparison, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")
}


def _in_place(fn: Any) -> Callable[[Any, Any], Any]:
    return binary.pow_ if fn is binary.pow else fn.inplace


for _name, _fn in _BINARY.items():
    _attach(f"__{_name}__", _fn)
    _attach(f"__i{_name}__", _in_place(_fn))
for _name, _fn in _REFLECTED.items():
    _attach(f"__r{_name}__", _fn)
for _name, _fn in _COMPARISONS.items():
    _attach(f"__{_name}__", _fn)


def _matmul(self: Any, other: Any) -> Any:
    return self.matmul(other) if isinstance(other, Tensor) else NotImplemented


def _rmatmul(self: Any, other: Any) -> Any:
    return _matmul(other, self) if isinstance(other, Tensor) else NotImplemented


def _rtruediv(self: Any, other: Any) -> Any:
    operand = _operand(other)
    if operand is NotImplemented and not isinstance(other, np.ndarray):
        return NotImplemented
    # An array takes it from here, as it does in PyTorch: alone among these it divides by a tensor.
    return elementwise.reciprocal(self) * (other if operand is NotImplemented else operand)


def _equal(self: Any, other: Any) -> Any:
    """``==``, which alone among the comparisons takes an array too, as in PyTorch."""
    if other.__class__ in _SURE or isinstance(other, Tensor):
        return comparison.eq(self, other)
    if isinstance(other, np.ndarray) and other.dtype.kind in "biufc":
        return comparison.eq(self, self.backend.from_array(other.copy()))
    operand = _operand(other)
    return NotImplemented if operand is NotImplemented else comparison.eq(self, operand)


def _inverted(self: Tensor) -> Any:
    if self.dtype.category > dtypes.INT:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return comparison.bitwise_not(self)


def _unary(name: str, fn: Callable[[Any], Any]) -> None:
    attach_as_is(name, lambda self: fn(self))


attach_as_is("__eq__", _equal)
attach_as_is("__matmul__", _matmul)
attach_as_is("__rmatmul__", _rmatmul)
attach_as_is("__rtruediv__", _rtruediv)
attach_as_is("__rdiv__", vars(Tensor)["__rtruediv__"])  # PyTorch keeps Python 2's name
_unary("__neg__", arithmetic.neg)
_unary("__pos__", lambda x: x)
_unary("__abs__", elementwise.abs)
_unary("__invert__", _inverted)
