"""Tensors that a forked worker takes along: their values are fetched before the fork, all at once, and in the
worker they are tensors of its own session, so that a sample may be made of them and of arrays.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from gradd_engine.data import Meta

from ...._session import current
from ...._tensor import Tensor

#: a tensor and its values
Carried = list[tuple[Tensor, np.ndarray[Any, Any]]]
_PLAIN = (int, float, complex, str, bytes, type(None), np.ndarray, np.generic, type, types.ModuleType)
#: packages whose objects hold tensors for users
_WALKED = ("gradd.nn", "gradd.utils")


def carried(things: Iterable[Any]) -> Carried:
    """The tensors that `things` hold, with their values: a round trip for each session they are of."""
    found = list(_held(things))
    for session in {id(t._session): t._session for t in found}.values():
        session.ask_for([t for t in found if t._session is session])
    return [(t, t._values()) for t in found]


def unpack(parcel: Carried) -> None:
    """In the worker: make them tensors of the current session, without history."""
    session = current()
    for t, values in parcel:
        t._session.live.pop(t._id)  # only the parent frees the parent's
        needs, place = t.requires_grad, session.backend.empty(Meta(tuple(t.shape), t.dtype))
        vars(t).clear()
        vars(t).update(vars(place))
        t._requires_grad = needs
        session.upload(t, values, needs)


def _held(things: Iterable[Any]) -> Iterator[Tensor]:
    """The tensors in `things`, in containers, attributes and what functions name, each once."""
    seen: dict[int, Any] = {}
    ahead = deque(things)
    while ahead:
        one = ahead.popleft()
        if isinstance(one, _PLAIN) or id(one) in seen:
            continue
        seen[id(one)] = one
        if isinstance(one, Tensor):
            yield one
        else:
            ahead.extend(_inside(one))


def _inside(one: Any) -> Iterable[Any]:
    if isinstance(one, types.FunctionType):
        cells = (cell.cell_contents for cell in one.__closure__ or () if _filled(cell))
        return [*_named(one), *cells, *(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values()]
    if isinstance(one, types.MethodType):
        return one.__self__, one.__func__
    if isinstance(one, partial):
        return one.func, *one.args, *one.keywords.values()
    kind = type(one)
    if kind.__module__.startswith("gradd") and not kind.__module__.startswith(_WALKED):
        return ()  # sessions and what they hold
    attributes = getattr(one, "__dict__", None)
    held = [*attributes.values()] if type(attributes) is dict else []
    for function in vars(kind).values():
        if isinstance(function, types.FunctionType):
            held += _named(function)
    if isinstance(one, dict):
        return [*held, *one.values()]
    return [*held, *one] if isinstance(one, (list, tuple, set, frozenset, deque)) else held


def _named(function: types.FunctionType) -> list[Tensor]:
    """The global tensors that a function names."""
    named = (function.__globals__.get(name) for name in function.__code__.co_names)
    return [t for t in named if isinstance(t, Tensor)]


def _filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False
