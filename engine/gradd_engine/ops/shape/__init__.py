"""Views, reshapes, dtype conversions, copies and overwriting.

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
