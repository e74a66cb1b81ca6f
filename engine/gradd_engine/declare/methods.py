"""Methods and other attributes of tensors, all set here, and how methods are told apart from functions where
a call is refused.

A method is its function again, under a name of its own: PyTorch counts a method's arguments without ``self``.
"""

from __future__ import annotations

import types
from typing import Any

from ..tensor import Tensor


def attach(name: str, fn: Any) -> None:
    """Make a function the method `name` of tensors."""
    if isinstance(fn, types.FunctionType):
        # What it is refused under: an alias has the name of its op.
        known = name if fn.__name__.startswith("_") else fn.__name__
        code = fn.__code__.replace(co_qualname=f"Tensor.{known}")
        made = types.FunctionType(code, fn.__globals__, known, fn.__defaults__, fn.__closure__)
        made.__kwdefaults__, made.__doc__, made.__qualname__ = fn.__kwdefaults__, fn.__doc__, known
        made.__module__ = fn.__module__
        made.__dict__.update(fn.__dict__)
        fn = made
    attach_as_is(name, fn)


def attach_as_is(name: str, value: Any) -> None:
    """Set an attribute of the class of tensors as it is: a property, an operator."""
    setattr(Tensor, name, value)
