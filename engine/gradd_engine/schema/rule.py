"""The derivative part of a declaration: its rules, and what they need."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Joint:
    """A vjp rule that returns the gradients of several inputs at once: those in ``names``, in order."""

    __slots__ = ("fn", "names")

    def __init__(self, names: str, fn: Callable[..., Any]) -> None:
        self.names = tuple(names.split())
        self.fn = fn


class Rule:
    """A vjp function, the inputs it serves, and its residuals: the names of the values it needs."""

    __slots__ = ("fn", "joint", "residuals", "serves")

    def __init__(self, fn: Callable[..., Any], serves: tuple[str, ...], joint: bool) -> None:
        self.fn = fn
        self.serves = serves
        self.joint = joint
        self.residuals = tuple(inspect.signature(fn).parameters)


class Derivative:
    """The derivative of an op."""

    __slots__ = (
        "check_backward", "jvp", "node_name", "number_nodes", "refuses", "rules", "zero_gradient_when",
    )  # fmt: skip

    def __init__(
        self,
        rules: dict[str, Rule],
        jvp: Any,
        node_name: str | Callable[[dict[str, Any]], str],
        number_nodes: dict[str, str] | None = None,
        refuses: Callable[[dict[str, Any]], Exception] | None = None,
        zero_gradient_when: Callable[[dict[str, Any]], bool] | None = None,
        check_backward: Callable[..., Any] | None = None,
    ) -> None:
        #: vjp rules by input
        self.rules = rules
        #: the forward-mode rule, or one of the constants
        self.jvp = jvp
        #: the node's name, or a function that returns it from the attributes
        self.node_name = node_name
        #: by parameter, the node's name if a number is passed for it: PyTorch's overload for numbers
        self.number_nodes = number_nodes or {}
        #: of an op without a derivative: returns the exception its node raises, from the attributes
        self.refuses = refuses
        #: whether, given the attributes, nothing depends on the inputs: the node then has no edges
        self.zero_gradient_when = zero_gradient_when
        #: ``check_backward(inputs, **attrs)`` raises the errors the rules would raise for inputs of that
        #: geometry
        self.check_backward = check_backward
