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


def demand_within(constraint: Any, parts: list[Any], value: Any) -> None:
    """`demand` that `value` is in a region: one step where the region is a comparison with numbers."""
    test = constraint._test(value) if isinstance(value, Tensor) and not value.is_complex() else None
    if test is None:
        demand(constraint.check(value), parts, value)
    else:
        demand(value, parts, value, *test)


def demand(valid: Any, parts: list[Any], value: Any, test: str = "", *bounds: float) -> None:
    """ValueError unless all of `valid` is true, or what `require` calls the `test` of its numbers: at once
    for a bool, else when the step has run. The message are the `parts`, texts and tensors, and then `value`.
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
        require(valid, shown, text, test=test, bounds=list(bounds))
        return
    node = value._fn  # not `grad_fn`, which a program would have to name
    require(
        valid,
        shown,
        text + BLANK,
        test=test,
        bounds=list(bounds),
        grad_fn="" if node is None else node.short_name(),
        requires_grad=value.requires_grad,
    )
