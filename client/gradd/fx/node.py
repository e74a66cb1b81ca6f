"""`torch.fx.node`: a step of a graph, and names for annotations of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

__all__ = ["Argument", "Node", "Target"]

#: what a node calls
Target: TypeAlias = Callable[..., Any] | str
#: what a node is given
Argument: TypeAlias = Any


def no_graph(name: str) -> NoReturn:
    """NotImplementedError: there is none of `name`."""
    raise NotImplementedError(
        f"torch.fx.{name}: gradd traces no modules; it compiles what a step records by itself"
    )


class TracedNode:
    """A step of a graph. NotImplementedError: none is made."""

    def __init__(self, *args: Any, **options: Any) -> None:
        no_graph("Node")


#: as PyTorch names it
Node = TracedNode
