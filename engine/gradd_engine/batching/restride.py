"""Views by geometry: the cheapest view of a tensor with given sizes, strides and offset.

A level of `vmap` uses these on physical tensors, so that gradients pass through a transpose or slice rather
than `as_strided`.
"""

from __future__ import annotations

from typing import Any

from ..data import broadcast_strides, numel, view_strides
from ..schema import named


def restride(t: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: Any) -> Any:
    """A view of `t` with this geometry: a permutation, reshape, expansion, selection or slice if possible,
    otherwise `as_strided`.
    """
    old, steps = tuple(t.shape), tuple(t.strides)
    if offset == t.offset:
        dims = _permutation(old, steps, shape, strides)
        if dims is not None:
            return named.permute(t, dims)
        if numel(shape) == numel(old) and view_strides(old, steps, shape) == strides:
            return named.view(t, list(shape))
        if len(shape) >= len(old) and old[:1] == shape[:1]:
            found = _expanded(t, old, shape, strides)
            if found is not None:
                return found
    part = _part(t, old, steps, shape, strides, offset)
    return named.as_strided(t, list(shape), list(strides), offset) if part is None else part


def _permutation(
    old: tuple[int, ...], steps: tuple[int, ...], shape: tuple[int, ...], strides: tuple[int, ...]
) -> list[int] | None:
    """The permutation of `old` that gives `shape` and `strides`; None without one or a change."""
    if len(old) != len(shape) or (old == shape and steps == strides):
        return None
    left = list(range(len(old)))
    dims: list[int] = []
    for n, s in zip(shape, strides, strict=True):
        d = next((d for d in left if old[d] == n and steps[d] == s), None)
        if d is None:
            return None
        left.remove(d)
        dims.append(d)
    return dims


def _expanded(t: Any, old: tuple[int, ...], shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """`t` expanded in all dimensions but the first, or None."""
    if not old:
        return None
    inner, rest = shape[1:], old[1:]
    if strides[0] != t.strides[0]:
        return None
    lead = len(inner) - len(rest)
    if any(a not in (1, b) for a, b in zip(rest, inner[lead:], strict=True)):
        return None
    if broadcast_strides(rest, tuple(t.strides[1:]), inner) != strides[1:]:
        return None
    return named.expand(named.view(t, [old[0], *[1] * lead, *rest]) if lead else t, list(shape))


def _part(
    t: Any,
    old: tuple[int, ...],
    steps: tuple[int, ...],
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    offset: Any,
) -> Any:
    """`t` with one dimension selected from or sliced; None if neither fits."""
    ahead = offset - t.offset
    if ahead < 0:
        return None
    if len(shape) == len(old) - 1:
        for d, step in enumerate(steps):
            if (*old[:d], *old[d + 1 :]) == shape and (*steps[:d], *steps[d + 1 :]) == strides:
                at = _steps(ahead, step)
                if at is not None and at < old[d]:
                    return named.select(t, d, at)
        return None
    if len(shape) != len(old):
        return None
    odd = [d for d in range(len(old)) if (old[d], steps[d]) != (shape[d], strides[d])]
    if len(odd) != 1 or not steps[odd[0]]:
        return None
    (d,) = odd
    start, every = _steps(ahead, steps[d]), _steps(strides[d], steps[d])
    if start is None or not every or not shape[d] or start + (shape[d] - 1) * every >= old[d]:
        return None
    return named.slice_from(t, d, start, shape[d], every)


def _steps(distance: int, step: int) -> int | None:
    """How many steps make up `distance`, or None."""
    if not step:
        return 0 if not distance else None
    return distance // step if distance % step == 0 else None
