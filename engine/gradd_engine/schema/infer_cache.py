"""What is remembered of a call: what a plain op or view makes of inputs of one geometry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from ..data import Meta


class InferCache:
    """What a plain op or view makes of inputs of one geometry: ``meta``, what `infer` says, and its parts
    at hand.

    ``line``: any array of that shape in memory of its own is contiguous. ``tracks``: its result can have a
    history. ``takes``, an entry an input, says what its kernel gets: None for the array as it is, a type to
    make of a number, False where it takes more; with ``asks`` it gets more than inputs and parameters. For
    its node: ``params`` and ``label``, which the overload decides, ``slots``, where the tensors of the edges
    stand among the inputs (-1: never a gradient), ``inputs``, their geometry, and ``recipes`` by what is
    wanted.
    """

    __slots__ = (
        "asks", "complex", "contiguous", "dtype", "inputs", "label", "line", "meta", "nbytes", "params",
        "recipes", "shape", "slots", "takes", "tracks",
    )  # fmt: skip

    meta: Meta
    asks: bool
    complex: bool
    contiguous: bool
    dtype: np.dtype[Any]
    inputs: tuple[Any, ...]
    label: str
    line: bool
    nbytes: int
    params: tuple[str, ...]
    recipes: dict[tuple[bool, ...], Any]
    shape: tuple[int, ...]
    slots: tuple[int, ...]
    takes: tuple[Any, ...]
    tracks: bool
