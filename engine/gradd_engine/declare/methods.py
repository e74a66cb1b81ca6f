"""Methods and other attributes of tensors, all set here, and how methods are told apart from functions where
a call is refused.

A method is its function again, under a name of its own: PyTorch counts a method's arguments without ``self``.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, TypeVar

from ..tensor import Tensor

F = TypeVar("F", bound=Callable[..., Any])


def attach(name: str, fn: Any, *forms: str) -> None:
    """Make a function the method `name` of tensors; `forms` as in `surface.public`, without ``self``."""
    if isinstance(fn, types.FunctionType):
        # What it is refused under: an alias has the name of its op.
        known = name if fn.__name__.startswith("_") else fn.__name__
        code = fn.__code__.replace(co_qualname=f"Tensor.{known}")
        made = types.FunctionType(code, fn.__globals__, known, fn.__defaults__, fn.__closure__)
        made.__kwdefaults__, made.__doc__, made.__qualname__ = fn.__kwdefaults__, fn.__doc__, known
        made.__module__, made.__annotations__ = fn.__module__, fn.__annotations__
        made.__dict__.update(fn.__dict__)
        fn = made
    if forms:
        fn.method_forms = forms
    attach_as_is(name, fn)


def attach_as_is(name: str, value: Any) -> None:
    """Set an attribute of the class of tensors as it is: a property, an operator."""
    setattr(Tensor, name, value)


def typed(*forms: str) -> Callable[[F], F]:
    """State the signatures that a type checker sees of a function, as `surface.public` has them."""

    def state(fn: F) -> F:
        fn.__dict__["forms"] = forms
        return fn

    return state


Tensor.size.__dict__["method_forms"] = ("(dim: None = None) -> Size", "(dim: int) -> int")
Tensor.stride.__dict__["method_forms"] = ("(dim: None = None) -> tuple[int, ...]", "(dim: int) -> int")
