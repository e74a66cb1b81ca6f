"""Checks of values that do not wait for them.

An op raises on the server, and its error arrives as any other step's. What is known here is checked at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gradd_engine.ops.reduce import BLANK, require

from .._tensor import Tensor


def known_number(value: Any) -> Any:
    """The number that all elements of a tensor are, where it was made of one; else None."""
    return value.__dict__.get("_number") if isinstance(value, Tensor) else None


def demand(valid: Any, parts: list[Any], value: Any) -> None:
    """ValueError unless all of `valid` is true: at once for a bool, else when the step has run. The message
    are the `parts`, texts and tensors, and then `value`.
    """
    if isinstance(valid, (bool, np.bool_)):
        if not valid:
            raise ValueError("".join(f"{p}" for p in (*parts, value)))
        return
    if not isinstance(value, Tensor):
        parts, value = [*parts, f"{value}"], None
    shown = [p for p in (*parts, value) if isinstance(p, Tensor)]
    text = "".join(BLANK if isinstance(p, Tensor) else p.replace(BLANK, "?") for p in parts)
    if value is None:
        require(valid, shown, text)
        return
    node = value._fn  # not `grad_fn`, which a program would have to name
    require(
        valid,
        shown,
        text + BLANK,
        grad_fn="" if node is None else node.short_name(),
        requires_grad=value.requires_grad,
    )
