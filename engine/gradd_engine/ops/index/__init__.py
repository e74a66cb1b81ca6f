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
    view_copies,
)
from .joining import cat, stack
from .scatter import gather_op, gathered_back, scatter_add, scatter_op
from .slicing import narrow

__all__ = [
    "arrange",
    "cat",
    "dynamic",
    "embedding",
    "gather_op",
    "gathered_back",
    "index_select",
    "indexing",
    "joining",
    "narrow",
    "reduce_at",
    "scatter",
    "scatter_add",
    "scatter_op",
    "slicing",
    "stack",
    "subscript",
    "take_put",
    "unique",
    "unsafe_parts",
    "view_copies",
]
