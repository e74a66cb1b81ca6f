"""CUDA graphs (torch.cuda.graphs): a step that repeats is one already, as its daemon plans it; none is made
by hand.

Source: https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs
"""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = [
    "CUDAGraph",
    "graph",
    "graph_pool_handle",
    "is_current_stream_capturing",
    "make_graphed_callables",
]


def _refuse(what: str) -> NoReturn:
    raise RuntimeError(
        f"Tried to instantiate dummy base class {what}: a daemon makes CUDA graphs itself, of what repeats"
    )


class CUDAGraph:
    """RuntimeError: see above."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("CUDAGraph")


class graph:
    """RuntimeError: see above."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("CUDAGraph")


def make_graphed_callables(*args: Any, **kwargs: Any) -> Any:
    """RuntimeError: see above."""
    _refuse("CUDAGraph")


def graph_pool_handle() -> Any:
    """RuntimeError: see above."""
    _refuse("_graph_pool_handle")


def is_current_stream_capturing() -> bool:
    """False: nothing is captured by hand."""
    return False
