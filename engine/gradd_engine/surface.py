"""The names users see: every declared op under its namespace, and hand-written forms with PyTorch's flexible
signatures.

A client builds its modules from this table, so functions, methods and declarations cannot drift apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .registry import REGISTRY
from .tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

#: (namespace, name) -> function; namespaces: "" (top level), "nn.functional", "linalg", "special", ...
PUBLIC: dict[tuple[str, str], Callable[..., Any]] = {}
#: functions that make tensors without tensor arguments: a client runs them on its session's backend
CREATES: set[tuple[str, str]] = set()


def public(
    *namespaces: str, name: str | None = None, method: bool | str = False, creates: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Publish a function under `namespaces` (default: top level); optionally as a Tensor method too."""

    def publish(fn: Callable[..., Any]) -> Callable[..., Any]:
        known = name or fn.__name__.rstrip("_")
        for space in namespaces or ("",):
            PUBLIC[space, known] = fn
            if creates:
                CREATES.add((space, known))
        if method:
            setattr(Tensor, method if isinstance(method, str) else known, fn)
        return fn

    return publish


def functions() -> dict[tuple[str, str], Callable[..., Any]]:
    """Everything published, and every declared op with a namespace that nothing published replaces.

    What is declared is what `gradd_engine.ops` imports: import it first.
    """
    found = dict(PUBLIC)
    for op in REGISTRY.values():
        if op.namespace == "-" or op.base is not None:
            continue
        for space in op.namespace.split("|"):
            # Where PyTorch has a name twice, the op is called `linalg_cross` and published as `linalg.cross`.
            name = op.name.removeprefix(f"{space}_")
            if (space, name) not in found:
                found[space, name] = op.call
                if not op.tensor_slots or op.of_numbers:
                    CREATES.add((space, name))
    return found
