"""A cache entry for a plain op or view on inputs of one geometry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from ..data import Meta


class InferCache:
    """What a plain op or view makes of inputs of one geometry: ``meta``, the result of `infer`, and its parts
    for fast access.

    ``line``: any array of that shape in memory of its own is contiguous. ``tracks``: its result can have a
    history. ``takes`` has an entry per input saying what its kernel gets: None for the array itself, a type
    to convert a number to, False for anything else; if ``asks``, it gets more than inputs and parameters. For
    its node: ``params`` and ``label``, which depend on the overload; ``slots``, the edges that may lead
    somewhere, each with the position of its input, and ``others``: there are tensors besides; ``apart``: no
    gradient goes anywhere, whatever the inputs need; ``inputs``, the geometry of each edge's tensor; and
    ``recipes``, by the gradients wanted.
    """

    __slots__ = (
        "apart", "asks", "complex", "contiguous", "dtype", "inputs", "label", "line", "meta", "nbytes",
        "others", "params", "recipes", "shape", "slots", "swift", "takes", "tracks",
    )  # fmt: skip

    meta: Meta
    apart: bool
    asks: bool
    complex: bool
    contiguous: bool
    dtype: np.dtype[Any]
    inputs: tuple[Any, ...]
    label: str
    line: bool
    nbytes: int
    others: bool
    params: tuple[str, ...]
    recipes: dict[tuple[bool, ...], Any]
    shape: tuple[int, ...]
    slots: tuple[tuple[int, int], ...]
    #: what computes it on eager backends; None until it is made, False where only `compute` will do
    swift: Any
    takes: tuple[Any, ...]
    tracks: bool

    def beside(self, meta: Meta) -> InferCache:
        """Of what differs only in where it begins."""
        found = InferCache()
        found.meta, found.shape, found.dtype, found.nbytes = meta, self.shape, self.dtype, self.nbytes
        found.contiguous, found.line, found.complex = self.contiguous, self.line, self.complex
        found.tracks, found.takes, found.asks = self.tracks, self.takes, self.asks
        found.params, found.label, found.slots = self.params, self.label, self.slots
        found.others, found.apart = self.others, self.apart
        found.inputs, found.recipes, found.swift = self.inputs, {}, False
        return found
