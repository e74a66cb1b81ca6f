"""`torch.compile`, which has nothing to do here: what a script repeats is compiled in the daemon by itself.

As https://docs.pytorch.org/docs/stable/torch.compiler_api.html.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

_told: set[str] = set()


def note(name: str) -> None:
    """Say once that `name` changes nothing."""
    if name not in _told:
        _told.add(name)
        warnings.warn(
            f"{name} returns what it is given: a step that repeats is compiled in the daemon by itself",
            stacklevel=3,
        )


def compile(
    model: Callable[..., Any] | None = None, *, fullgraph: bool = False, dynamic: bool | None = None,
    backend: str | Callable[..., Any] = "inductor", mode: str | None = None,
    options: dict[str, Any] | None = None, disable: bool = False,
) -> Any:  # fmt: skip
    """`model` itself; without one, a decorator that returns what it is given. Warns so once.

    As https://docs.pytorch.org/docs/stable/generated/torch.compile.html. Raises RuntimeError where both
    `mode` and `options` are given.
    """
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    note("torch.compile")
    return (lambda given: given) if model is None else model


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """`fn` itself, or a decorator that returns what it is given."""
    return (lambda given: given) if fn is None else fn


def is_compiling() -> bool:
    """False."""
    return False


def is_dynamo_compiling() -> bool:
    """False."""
    return False


def allow_in_graph(fn: Any) -> Any:
    """`fn` itself."""
    return fn


def cudagraph_mark_step_begin() -> None:
    """Has no effect: no graphs are captured by hand."""


def reset() -> None:
    """Has no effect: plans belong to the session, and stay."""
