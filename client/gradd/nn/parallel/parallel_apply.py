"""Modules called each on an input of its own (torch.nn.parallel.parallel_apply)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..module import Module

__all__ = ["parallel_apply"]


def parallel_apply(
    modules: Sequence[Module],
    inputs: Sequence[Any],
    kwargs_tup: Sequence[dict[str, Any] | None] | None = None,
    devices: Sequence[Any] | None = None,
) -> list[Any]:
    """The results of the modules, one after the other; an input that is no tuple or list is the only one."""
    if len(modules) != len(inputs):
        raise AssertionError(
            f"The number of modules {len(modules)} is not equal to the number of inputs {len(inputs)}"
        )
    named = kwargs_tup or [None] * len(modules)
    if len(modules) != len(named):
        raise AssertionError(
            f"The number of modules {len(modules)} is not equal to the number of kwargs {len(named)}"
        )
    given = [args if isinstance(args, (list, tuple)) else (args,) for args in inputs]
    return [m(*args, **(kw or {})) for m, args, kw in zip(modules, given, named, strict=True)]
