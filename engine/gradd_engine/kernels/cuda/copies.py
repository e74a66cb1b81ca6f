"""Copies of many arrays in few launches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .expressions import STORED
from .fused import MOST_ARRAYS, FusedArray, FusedKernel, FusedPart
from .launch import kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def copying(
    xp: Any, sources: Sequence[Any], targets: Sequence[Any]
) -> Callable[[Sequence[Any], Sequence[Any]], None]:
    """A function that copies arrays with the geometries of `sources` to ones with those of `targets`."""
    known = [n for n, a in enumerate(sources) if _char(a) in STORED and a.size]
    runs: list[tuple[FusedKernel, list[int]]] = []
    for first in range(0, len(known), MOST_ARRAYS // 2):
        some = known[first : first + MOST_ARRAYS // 2]
        parts = []
        for k, n in enumerate(some):
            a, b = sources[n], targets[n]
            loads = (FusedArray(2 * k, _strides(a)),)
            parts.append(FusedPart(tuple(a.shape), loads, (), (("x0", FusedArray(2 * k + 1, _strides(b))),)))
        runs.append((FusedKernel([_char(sources[n]) for n in some for _ in range(2)], parts), some))
    rest = [n for n, a in enumerate(sources) if a.size and _char(a) not in STORED]

    def copy(those: Sequence[Any], to: Sequence[Any]) -> None:
        for kernel, some in runs:
            kernel(xp, [a for n in some for a in (those[n], to[n])])
        for n in rest:
            to[n][...] = those[n]

    return copy


def _char(a: Any) -> str:
    """The dtype's character; what a bool's memory has is no number."""
    return "?" if a.dtype.char == "?" else kind(a)


def _strides(a: Any) -> tuple[int, ...]:
    return tuple(s // a.itemsize for s in a.strides)
