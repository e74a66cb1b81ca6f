"""Python objects in files of PyTorch's: how a file names classes and functions, and states of objects.

As in https://docs.pytorch.org/docs/stable/notes/serialization.html. A name finds what the program has
imported already; no module is imported for a file.
"""

from __future__ import annotations

import copyreg
import datetime
import enum
import pathlib
import sys
from collections import deque
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from ..nn.module import Module

#: what a file may name
NAMED = (type, FunctionType, BuiltinFunctionType, np.ufunc)
#: where PyTorch's names are public, in gradd
_PUBLIC = ("gradd", "gradd.nn", "gradd.nn.functional", "gradd.optim", "gradd.optim.lr_scheduler")
#: what may be called to make a value. A class makes its own instances without being called.
_MAKERS = (
    np.ndarray, np.dtype, bytearray, set, frozenset, slice, range, deque, datetime.date, datetime.time,
    datetime.timedelta, datetime.timezone, pathlib.PurePath, enum.Enum,
)  # fmt: skip
_NUMPY = ("numpy._core.multiarray", "numpy.core.multiarray", "numpy._core.numeric")
#: classes and functions that `add_safe_globals` was given, by the names that files use
SAFE: dict[str, Any] = {}


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let `load` make instances of these classes with weights alone (torch.serialization.add_safe_globals).

    Each is a class or function, or a tuple of one and the name that files have for it. Any of them may be
    called for a file.
    """
    for value in safe_globals:
        held, name = value if isinstance(value, tuple) else (value, None)
        SAFE[name or ".".join(name_of(held) or (held.__module__, held.__qualname__))] = held


def get_safe_globals() -> list[Any]:
    """What `add_safe_globals` was given."""
    return [held if ".".join(name_of(held) or ()) == name else (held, name) for name, held in SAFE.items()]


def clear_safe_globals() -> None:
    """Forget what `add_safe_globals` was given."""
    SAFE.clear()


def name_of(value: Any) -> tuple[str, str] | None:
    """The module and name by which a file speaks of a class or function; None where it cannot be found so."""
    name = str(getattr(value, "__qualname__", None) or getattr(value, "__name__", ""))
    for place in _PUBLIC:
        if vars(sys.modules[place]).get(name, place) is value:
            return "torch" + place.removeprefix("gradd"), name
    module = getattr(value, "__module__", None) or "builtins"
    if found(module, name) is not value:
        return None
    return ("torch" + module.removeprefix("gradd") if module.partition(".")[0] == "gradd" else module), name


def found(module: str, name: str) -> Any:
    """What a file's name stands for in this program; None where there is nothing."""
    places = [module]
    if module.partition(".")[0] == "torch":
        places = ["gradd" + module.removeprefix("torch"), *_PUBLIC]
        if module.startswith("torch.nn.modules."):
            places = ["gradd.nn"]
    for place in places:
        value: Any = sys.modules.get(place)
        for part in name.split("."):
            value = getattr(value, part, None)
        if value is not None:
            return value
    return None


def may_be_called(value: Any) -> bool:
    """Whether calling it makes a plain value and does nothing else."""
    if value in SAFE.values():
        return True
    if isinstance(value, type):
        return issubclass(value, _MAKERS)
    return getattr(value, "__name__", "") in ("_reconstruct", "scalar", "_frombuffer") and any(
        found(module, value.__name__) is value for module in _NUMPY
    )


def taken_apart(obj: Any) -> tuple[Any, tuple[Any, ...], bool, Any, Any, Any]:
    """What makes `obj` again: a class or function, its arguments, whether it is a class whose `__new__` is
    meant, the state, and items of a list and of a dict. TypeError where it has no such description.
    """
    told = obj.__reduce_ex__(2)
    if isinstance(told, str) or len(told) > 5:
        raise TypeError(f"cannot pickle {type(obj).__name__!r} object")
    maker, given, state, items, pairs = (*told, None, None, None)[:5]
    anew = maker is copyreg.__newobj__  # type: ignore[attr-defined]
    return (given[0] if anew else maker), given[1:] if anew else given, anew, state, items, pairs


def build(obj: Any, state: Any) -> None:
    """Give a new object its state, as unpickling does."""
    if isinstance(obj, Module):  # PyTorch's has other attributes of its own
        Module.__init__(obj)
    if hasattr(obj, "__setstate__"):
        obj.__setstate__(state)
        return
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    if state:
        vars(obj).update(state)
    for name, value in (slots or {}).items():
        setattr(obj, name, value)
