"""`torch.fx.proxy` and the tracer, which here traces nothing."""

from __future__ import annotations

from typing import Any

from ..nn import Module
from .node import no_graph

__all__ = ["Proxy", "Tracer", "TracerBase"]


class Proxy:
    """Stands for a value in a trace. NotImplementedError: none is made."""

    def __init__(self, *args: Any, **options: Any) -> None:
        no_graph("Proxy")


class Tracer:
    """Makes the graph of a module. It can be made and derived from; `trace` raises NotImplementedError."""

    def __init__(self, autowrap_modules: Any = (), autowrap_functions: Any = (), **options: Any) -> None:
        self.autowrap_modules, self.autowrap_functions = autowrap_modules, autowrap_functions

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether a trace would not look into `m`: one of torch's own but a Sequential."""
        return type(m).__module__.startswith("gradd.nn") and type(m).__name__ != "Sequential"

    def call_module(self, m: Module, forward: Any, args: Any, kwargs: Any) -> Any:
        """NotImplementedError."""
        no_graph("Tracer.call_module")

    def trace(self, root: Any, concrete_args: dict[str, Any] | None = None) -> Any:
        """NotImplementedError."""
        no_graph("Tracer.trace")


TracerBase = Tracer
