"""Arrays of which several elements share memory: what is written to one is written to all of these."""

from __future__ import annotations

from typing import Any


def memory_of(out: Any) -> Any:
    """A view with each place of an expanded array once."""
    return out[tuple(slice(None) if step else slice(1) for step in out.strides)]


def fill_shared(xp: Any, out: Any, mask: Any, value: Any) -> None:
    """Write `value` to the places that an element is at where `mask` is true. Waits for nothing: how often it
    is true is never asked.
    """
    memory = memory_of(out)
    along = tuple(d for d, step in enumerate(out.strides) if not step)
    there = xp.broadcast_to(mask, out.shape).any(axis=along, keepdims=True)
    memory[...] = xp.where(there, value, memory)


__all__ = ["fill_shared", "memory_of"]
