"""`torch.fx.graph_module`: modules made of graphs, and what libraries take such modules apart with."""

from __future__ import annotations

from typing import Any

from ..nn import Module
from .node import no_graph

__all__ = ["Graph", "GraphModule"]

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"


class TracedGraph:
    """What a function does, as nodes. NotImplementedError: none is made."""

    def __init__(self, *args: Any, **options: Any) -> None:
        no_graph("Graph")


#: as PyTorch names it
Graph = TracedGraph


class GraphModule(Module):
    """A module made of a graph. NotImplementedError: none is made."""

    def __init__(self, *args: Any, **options: Any) -> None:
        no_graph("GraphModule")


class _CodeOnlyModule(Module):
    """A module with the attributes of another and no graph."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__ = body


def _copy_attr(from_module: Any, to_module: Any, target: str) -> None:
    """Give `to_module` what `from_module` has at a path, ``a.b.weight``, with empty modules on the way."""
    *path, name = target.split(".")
    for part in path:
        if not hasattr(to_module, part):
            setattr(to_module, part, Module())
        from_module, to_module = getattr(from_module, part), getattr(to_module, part)
    setattr(to_module, name, getattr(from_module, name))
