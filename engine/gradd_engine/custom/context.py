"""The ``ctx`` passed to the methods of an `autograd.Function`: its node, and whatever they set on it.

A node has attributes of its own (``width``, ``outputs``, ...), which PyTorch does not expose. They are kept
apart from what methods set, so any name is free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .function_node import BackwardNode

#: setting these is left to the node, which refuses
_READ_ONLY = frozenset({"metadata", "next_functions", "saved_tensors", "saved_variables"})


class Context:
    """A node as its Function's methods see it. Contexts of one node equal each other and the node."""

    __slots__ = ("__weakref__", "_gradd_node")
    _gradd_node: BackwardNode

    def __init__(self, node: BackwardNode) -> None:
        object.__setattr__(self, "_gradd_node", node)

    # For isinstance(ctx, FunctionCtx).
    __class__ = property(lambda self: type(self._gradd_node))

    def __getattr__(self, name: str) -> Any:
        node = self._gradd_node
        kept = node.kept_by_methods
        return kept[name] if name in kept else getattr(node, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _READ_ONLY:
            setattr(self._gradd_node, name, value)
        self._gradd_node.kept_by_methods[name] = value

    def __delattr__(self, name: str) -> None:
        if name not in self._gradd_node.kept_by_methods:
            raise AttributeError(name)
        del self._gradd_node.kept_by_methods[name]

    def __eq__(self, other: object) -> bool:
        return node_behind(other) is self._gradd_node

    def __hash__(self) -> int:
        return hash(self._gradd_node)

    def __dir__(self) -> list[str]:
        return [*dir(self._gradd_node), *self._gradd_node.kept_by_methods]

    def __repr__(self) -> str:
        return repr(self._gradd_node)


def node_behind(ctx: Any) -> Any:
    """The node of a `Context`; anything else unchanged."""
    return object.__getattribute__(ctx, "_gradd_node") if type(ctx) is Context else ctx
