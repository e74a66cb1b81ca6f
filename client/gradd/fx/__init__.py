"""`torch.fx`, as far as libraries need it to be imported: nothing is traced from Python's side here.

They mark functions with `wrap` as they are imported, and ask of modules whether they are of `GraphModule`:
both work. To trace a module raises NotImplementedError: gradd compiles the operations that a step records.

As https://docs.pytorch.org/docs/stable/fx.html.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from . import graph_module as graph_module
from . import node as node
from . import proxy as proxy
from .graph_module import Graph, GraphModule
from .node import Node, no_graph
from .proxy import Proxy, Tracer

__all__ = ["Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "symbolic_trace", "wrap"]

Given = TypeVar("Given", bound=str | Callable[..., Any])


def wrap(fn_or_name: Given) -> Given:
    """`fn_or_name` itself (torch.fx.wrap): a function, which nothing will trace into, or its name.

    RuntimeError for anything else.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    return fn_or_name


class Interpreter:
    """Runs a graph module node by node. NotImplementedError: there is none."""

    def __init__(self, *args: Any, **options: Any) -> None:
        no_graph("Interpreter")


def symbolic_trace(root: Any, concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """NotImplementedError (torch.fx.symbolic_trace)."""
    no_graph("symbolic_trace")
