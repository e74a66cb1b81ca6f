"""Indexing: slices, indices, scatter and gather, joining.

Importing this room declares its ops.
"""

from . import (
    arrange,
    dynamic,
    embedding,
    index_select,
    indexing,
    joining,
    reduce_at,
    scatter,
    slicing,
    subscript,
    take_put,
    unique,
    unsafe_parts,
)

__all__ = [
    "arrange",
    "dynamic",
    "embedding",
    "index_select",
    "indexing",
    "joining",
    "reduce_at",
    "scatter",
    "slicing",
    "subscript",
    "take_put",
    "unique",
    "unsafe_parts",
]
