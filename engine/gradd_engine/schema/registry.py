"""Declared ops by name.

The layers below the declarations (graph, executor, views, forward mode) call ops through `named`, so ops
depend on the core and never the core on ops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from .op import Op

#: every declared op by name
REGISTRY: dict[str, Op] = {}


class _Named:
    """``named.add(a, b)`` runs the op declared as ``add``."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        found = REGISTRY.get(name)
        if found is None:
            raise LookupError(f"the op {name!r} is not declared: import gradd_engine.ops")
        # Cache it: declarations are permanent.
        setattr(self, name, found.call)
        return found.call


named = _Named()
