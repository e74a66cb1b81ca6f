"""Views and shapes: the same elements under other sizes, strides and dtypes, and writing over them.

Importing this room declares its ops.
"""

from . import (
    cast,
    copies,
    diagonals,
    overwrite,
    reshape,
    resize,
    turning,
    view_ops,
)

__all__ = [
    "cast",
    "copies",
    "diagonals",
    "overwrite",
    "reshape",
    "resize",
    "turning",
    "view_ops",
]
