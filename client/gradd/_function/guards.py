"""What a traced function depends on besides tensors: structure of arguments, constants, state of modules."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gradd_engine.data import DType

from .._tensor import Tensor
from ..nn._everywhere import BACKWARD, BACKWARD_PRE, FORWARD, FORWARD_PRE
from ..nn._hooks import HOOKS
from ..nn._state_dict import HOOKS as STATE_HOOKS
from ..nn._tree import _REGISTRIES as TREE
from ..nn._tree import OWN
from ..nn.module import Module
from ..optim.optimizer import Optimizer

_CONSTANTS = (bool, int, float, complex, str, bytes, type(None), DType, slice, type(...))
_EVERYWHERE = (FORWARD_PRE, FORWARD, BACKWARD_PRE, BACKWARD)
#: attributes of a module that are checked separately, or do not matter
_REGISTRIES = frozenset({*TREE, *HOOKS, *STATE_HOOKS, "_non_persistent_buffers_set", "training"})


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
    """Whether a value is a Python constant, which can be compared by equality."""
    return isinstance(x, _CONSTANTS)


class _Same:
    """A key equal only for the same object, which it keeps alive so that its address is not reused."""

    __slots__ = ("what",)

    def __init__(self, what: Any) -> None:
        self.what = what

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.what is self.what

    def __hash__(self) -> int:
        return id(self.what)


def watch(x: Any, names: Sequence[str] = (), depth: int = 2) -> Any:
    """What a traced function depends on in a value, hashable; `names`: the attributes that its code names."""
    if constant(x):
        return type(x), repr(x)
    if isinstance(x, Tensor):
        return id(x)
    if isinstance(x, Module):
        everywhere = tuple(_Same(h) for hooks in _EVERYWHERE for h in hooks.values())
        return id(x), everywhere, tuple(_module(m) for m in x.modules())
    if isinstance(x, Optimizer):
        return id(x), tuple(map(_group, x.param_groups)), _state(x)
    if isinstance(x, (list, tuple, dict)) and depth:
        entries = x.items() if isinstance(x, dict) else enumerate(x)
        return type(x), tuple((repr(k), watch(e, names, depth - 1)) for k, e in entries)
    held = getattr(x, "__dict__", None) if names and depth else None
    if held is None or isinstance(x, types.FunctionType):
        return _Same(x)
    # For a Python module only its own attributes, since it leads to all other modules.
    left = 0 if isinstance(x, types.ModuleType) else depth - 1
    return _Same(x), tuple((n, watch(held[n], names, left)) for n in names if n in held)


def _group(group: dict[str, Any]) -> Any:
    options = ((k, repr(v)) for k, v in group.items() if constant(v) or isinstance(v, tuple))
    return tuple(map(id, group["params"])), *options


def _state(x: Optimizer) -> Any:
    """The tensors of an optimizer's state, which `load_state_dict` replaces."""
    return tuple(tuple(map(id, held.values())) for held in x.state.values())


def _module(m: Module) -> Any:
    own = m.__dict__.get(OWN)
    if own is None:
        own = m.__dict__[OWN] = _own(m)
    fixed, lists = own
    hooks = m._forward_pre_hooks or m._forward_hooks or m._backward_pre_hooks or m._backward_hooks
    return (
        id(m),
        fixed,
        m.training,
        tuple(map(id, m._parameters.values())),
        tuple(map(id, m._buffers.values())),
        tuple(map(watch, lists)) if lists else None,
        tuple(tuple(map(_Same, m.__dict__[n].values())) for n in HOOKS) if hooks else None,
    )


def _own(m: Module) -> Any:
    """A module's attributes besides tensors, children and hooks: those changed only by assignment, and those
    that may change in place.
    """
    held = [(n, v) for n, v in m.__dict__.items() if n not in _REGISTRIES]
    lists = [v for _, v in held if isinstance(v, (list, tuple, dict))]
    return (type(m), *((n, watch(v)) for n, v in held if not isinstance(v, (list, tuple, dict)))), lists


def named(fn: Callable[..., Any]) -> tuple[str, ...]:
    """The globals and attributes that a function's code names, including nested functions."""
    code = getattr(getattr(fn, "__func__", fn), "__code__", None)
    return () if code is None else tuple(dict.fromkeys(_names(code)))


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _names(inner)


def guards(fn: Callable[..., Any], names: Sequence[str]) -> tuple[Any, ...]:
    """The current values of the globals, closure variables and defaults that a function names."""
    if isinstance(fn, types.MethodType):
        return (watch(fn.__self__, names), *guards(fn.__func__, names))
    if isinstance(fn, Module):
        return (watch(fn),)
    if not isinstance(fn, types.FunctionType):
        return ()
    around = fn.__globals__
    held = [around[n] for n in names if n in around]
    held += (c.cell_contents for c in fn.__closure__ or () if _filled(c))
    held += fn.__defaults__ or ()
    held += (fn.__kwdefaults__ or {}).values()
    return tuple(watch(x, names) for x in held)


def _filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


__all__ = ["constant", "flatten", "guards", "named", "unflatten", "watch"]
