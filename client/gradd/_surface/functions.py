"""The torch-like functions, built from the engine's table of names."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import gradd_engine.assembly  # noqa: F401 - declares what the table lists
from gradd_engine.data import ambient
from gradd_engine.declare import CREATES, functions
from gradd_engine.tensor import Tensor

from .._session import current

if TYPE_CHECKING:
    from collections.abc import Callable


def in_session(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a function, so that it creates tensors in the session of its first tensor argument, or in the
    current one.
    """

    @functools.wraps(fn)
    def create(*args: Any, **kwargs: Any) -> Any:
        given = next((a for a in args if isinstance(a, Tensor)), None)
        with ambient(backend=current().backend if given is None else given.backend):
            return fn(*args, **kwargs)

    return create


def namespace(space: str) -> dict[str, Callable[..., Any]]:
    """The functions of one torch namespace: "" (top level), "nn.functional", "linalg", "special"."""
    table = functions()
    return {
        name: in_session(fn) if (where, name) in CREATES else fn
        for (where, name), fn in table.items()
        if where == space
    }
