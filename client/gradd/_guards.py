"""What a traced function depends on besides tensors: structure of arguments, constants, modes of modules."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

from gradd_engine.dtypes import DType

from .nn.module import Module
from .optim.optimizer import Optimizer

_CONSTANTS = (bool, int, float, complex, str, bytes, type(None), DType, slice, type(...))


def flatten(x: Any) -> tuple[list[Any], Any]:
    """The leaves of nested tuples, lists and dicts, and the structure without them."""
    leaves: list[Any] = []
    return leaves, _walk(x, leaves)


def _walk(x: Any, leaves: list[Any]) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x), tuple(_walk(e, leaves) for e in x)
    if type(x) is dict:
        return dict, tuple((k, _walk(e, leaves)) for k, e in x.items())
    leaves.append(x)
    return None


def unflatten(tree: Any, leaves: list[Any]) -> Any:
    """The inverse of `flatten`."""
    return _build(tree, iter(leaves))


def _build(tree: Any, leaves: Iterator[Any]) -> Any:
    if tree is None:
        return next(leaves)
    kind, parts = tree
    if kind is dict:
        return {k: _build(p, leaves) for k, p in parts}
    found = [_build(p, leaves) for p in parts]
    return kind(*found) if hasattr(kind, "_fields") else kind(found)


def constant(x: Any) -> bool:
    """Whether a value is a Python constant, so that equality says all."""
    return isinstance(x, _CONSTANTS)


def watch(x: Any, depth: int = 2) -> Any:
    """What of a value a traced function depends on, hashable."""
    if constant(x):
        return type(x), repr(x)
    if isinstance(x, Module):
        return id(x), tuple(_module(m) for m in x.modules())
    if isinstance(x, Optimizer):
        return id(x), tuple(
            (len(g["params"]), *((k, repr(v)) for k, v in g.items() if constant(v) or isinstance(v, tuple)))
            for g in x.param_groups
        )
    if isinstance(x, (list, tuple, dict)) and depth:
        entries = x.items() if isinstance(x, dict) else enumerate(x)
        return type(x), tuple((repr(k), watch(e, depth - 1)) for k, e in entries)
    return id(x)


def _module(m: Module) -> Any:
    return (
        id(m),
        m.training,
        tuple(map(id, m._parameters.values())),
        tuple(map(id, m._buffers.values())),
    )


def guards(fn: Callable[..., Any]) -> tuple[Any, ...]:
    """What the globals and closure variables that a function names hold now."""
    if isinstance(fn, types.MethodType):
        return (watch(fn.__self__), *guards(fn.__func__))
    if isinstance(fn, Module):
        return (watch(fn),)
    code = getattr(fn, "__code__", None)
    if code is None:
        return ()
    named = [fn.__globals__[n] for n in code.co_names if n in fn.__globals__]
    cells = [c.cell_contents for c in fn.__closure__ or () if _filled(c)]
    return tuple(watch(x) for x in (*named, *cells))


def _filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


__all__ = ["constant", "flatten", "guards", "unflatten", "watch"]
