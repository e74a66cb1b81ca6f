"""What a declaration says of derivatives: vjp rules and what they ask for."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Joint:
    """A vjp rule that gives the gradients of several inputs at once: ``names`` says of which, in order."""

    __slots__ = ("fn", "names")

    def __init__(self, names: str, fn: Callable[..., Any]) -> None:
        self.names = tuple(names.split())
        self.fn = fn


class Rule:
    """A vjp function, the inputs it serves, and the names it asks for."""

    __slots__ = ("asks", "fn", "joint", "serves")

    def __init__(self, fn: Callable[..., Any], serves: tuple[str, ...], joint: bool) -> None:
        self.fn = fn
        self.serves = serves
        self.joint = joint
        self.asks = tuple(inspect.signature(fn).parameters)
