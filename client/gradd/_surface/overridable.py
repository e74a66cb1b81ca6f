"""The functions that classes and modes may override, and what has them ask: see `_tensor.overriding`."""

from __future__ import annotations

import inspect
import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any

from gradd_engine.declare import REFUSED, functions

from .._tensor import NAMES, Tensor, TensorType, decided, deciding, gate, ungate
from . import creation
from .facts import FACTS
from .generator import DRAWING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


#: PyTorch's operators that are told as the methods that they call
_OPERATORS = {
    **{
        f"__{name}__": name
        for name in ("add", "sub", "mul", "matmul", "lt", "le", "gt", "ge", "ne", "neg", "abs")
    },
    **{f"__i{name}__": f"{name}_" for name in ("add", "sub", "mul")},
    "__radd__": "add",
    "__rmul__": "mul",
    "__truediv__": "div",
    "__itruediv__": "div_",
    "__mod__": "remainder",
    "__imod__": "remainder_",
    "__ifloordiv__": "floor_divide_",
}
#: properties that are tensors; the others are read as they are
_PROPERTIES = ("T", "mT", "H", "mH", "real", "imag", "data")
#: methods that are of Python, and not PyTorch's
_PYTHON = frozenset({
    "__array__", "__array_priority__", "__array_ufunc__", "__class__", "__copy__", "__delattr__", "__dir__",
    "__getattribute__", "__hash__", "__init__", "__init_subclass__", "__iter__", "__new__", "__reduce__",
    "__reduce_ex__", "__setattr__", "__sizeof__", "__str__", "__torch_function__", "as_subclass",
})  # fmt: skip
#: what makes tensors of data: classes have no say in it
_OF_DATA = ("tensor", "as_tensor", "asarray", "from_numpy", "frombuffer")
_begun: list[bool] = []


def _spaces() -> Iterator[tuple[str, str, Any]]:
    """Names and functions by PyTorch's namespaces; what is in several is called after the top level."""
    package = sys.modules["gradd"]
    for space, name in sorted(functions()):
        holder: Any = package
        for part in space.split(".") if space else ():
            holder = getattr(holder, part, None)
        found = getattr(holder, name, None)
        if isinstance(found, FunctionType):
            yield f"torch.{space}" if space else "torch", name, found
    for name, found in {**FACTS, **DRAWING}.items():
        yield "torch", name, found


def _unlisted() -> Iterator[Any]:
    """Functions that ask, though PyTorch does not list them."""
    autograd: Any = sys.modules["gradd"].autograd
    yield from (autograd.grad, autograd.backward)


def methods() -> Iterator[tuple[str, Any]]:
    """The methods of tensors by name."""
    seen: set[str] = set()
    for cls in Tensor.__mro__[:-1]:
        for name, member in vars(cls).items():
            public = not name.startswith("_") or (name.startswith("__") and name.endswith("__"))
            if public and name not in seen and name not in _PYTHON and isinstance(member, FunctionType):
                seen.add(name)
                yield name, member


def begin() -> None:
    """Have the functions ask from now on."""
    if _begun:
        return
    _begun.append(True)
    for name, function in methods():
        known = _OPERATORS.get(name, name)
        told = getattr(Tensor, known)
        if not hasattr(Tensor, told.__name__):  # a name that only its declaration knows
            told.__name__ = known
        NAMES.setdefault(told, f"torch.Tensor.{known}")
        gate(function, told)
    for name in _PROPERTIES:
        found = inspect.getattr_static(Tensor, name)
        if isinstance(found, property) and isinstance(found.fget, FunctionType):
            NAMES[found.__get__] = f"torch.Tensor.{name}.__get__"
            gate(found.fget, found.__get__)
    for space, name, function in _spaces():
        NAMES.setdefault(function, f"{space}.{name}")
        gate(function, function)
    for function in _unlisted():
        gate(function, function)
    for name in _OF_DATA:
        function = getattr(creation, name)
        NAMES[function] = f"torch.{name}"
        gate(function, function, modes_alone=True)


def end() -> None:
    """Have the functions be as they were declared."""
    ungate()
    _begun.clear()


def _refused(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What an argument that is no tensor makes of a call that would be refused; NotImplemented where there is
    none that decides.
    """
    relevant = deciding((*args, *kwargs.values()))
    if not relevant:
        return NotImplemented
    begin()
    return decided(function, relevant, args, kwargs)


def prepare() -> None:
    """Have classes derived from `Tensor`, and refused calls, begin it."""
    TensorType.began = begin
    REFUSED.append(_refused)
