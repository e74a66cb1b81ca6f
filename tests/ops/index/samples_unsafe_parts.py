"""Samples of parts that autograd takes for no views."""

from __future__ import annotations

from typing import Any

from tests.ops.table import S, T


def _dense(name: str) -> Any:
    """The oracle's parts, each in memory of its own."""
    return lambda torch, *args: tuple(
        part.clone(memory_format=torch.contiguous_format) for part in getattr(torch, name)(*args)
    )


SAMPLES = {
    "unsafe_split": [
        S(T(5, 3), 2).torch(_dense("unsafe_split")).no_graph().complex_too(),
        S(T(5, 3), 5, 1).torch(_dense("unsafe_split")).no_graph(),
        S(T(0, 3), 0).torch(_dense("unsafe_split")).no_graph(),
    ],
    "unsafe_split_with_sizes": [
        S(T(2, 5), [2, 0, 3], 1).torch(_dense("unsafe_split_with_sizes")).no_graph().complex_too(),
    ],
    "unsafe_chunk": [
        S(T(5, 3), 2).torch(_dense("unsafe_chunk")).no_graph().complex_too(),
        S(T(5, 3), 4, -1).torch(_dense("unsafe_chunk")).no_graph(),
        S(T(0, 3), 2).torch(_dense("unsafe_chunk")).no_graph(),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "unsafe_split": [S(T(5), 0), S(T(5), -1), S(T(), 1)],
    "unsafe_split_with_sizes": [S(T(5), [2, 2]), S(T(5), [-1, 6])],
    "unsafe_chunk": [S(T(5), 0), S(T(), 1)],
}
