"""Samples of images read at places."""

from __future__ import annotations

from typing import Any

from tests.ops.table import I, S, T

AT = I((2, 4, 5), 6)


def _taken(torch: Any, x: Any, at: Any) -> Any:
    """Each tap's elements, [N, C, taps, points]."""
    n, c = x.shape[:2]
    index = at.reshape(n, 1, -1).expand(n, c, -1)
    return torch.gather(x, 2, index).reshape(n, c, *at.shape[1:])


def _read(torch: Any, x: Any, at: Any, weight: Any) -> Any:
    return (_taken(torch, x, at) * weight.unsqueeze(1)).sum(2)


def _add(torch: Any, g: Any, at: Any, weight: Any, size: int) -> Any:
    n, c = g.shape[:2]
    parts = (g.unsqueeze(2) * weight.unsqueeze(1)).reshape(n, c, -1)
    index = at.reshape(n, 1, -1).expand(n, c, -1)
    return torch.scatter_add(parts.new_zeros(n, c, size), 2, index, parts)


def _weigh(torch: Any, g: Any, x: Any, at: Any) -> Any:
    return (_taken(torch, x, at) * g.unsqueeze(2)).sum(1)


def sample(spelling: Any, *given: Any, **attrs: Any) -> Any:
    """One call, and how the oracle spells it."""
    return S(*given, **attrs).torch(spelling).dtypes("float32").no_graph()


SAMPLES = {
    "read_places": [
        sample(_read, T(2, 3, 6), AT, T(2, 4, 5)),
        sample(_read, T(1, 1, 6), I((1, 1, 3), 6), T(1, 1, 3)),
    ],
    "add_places": [
        sample(_add, T(2, 3, 5), AT, T(2, 4, 5), size=6),
        sample(_add, T(1, 2, 0), I((1, 2, 0), 6), T(1, 2, 0), size=3),
    ],
    "weigh_places": [sample(_weigh, T(2, 3, 5), T(2, 3, 6), AT)],
}
