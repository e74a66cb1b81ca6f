"""Views, reshapes, dtype conversions, copies and overwriting.

Importing this room declares its ops.
"""

from . import (
    cast,
    copies,
    diagonals,
    overwrite,
    reinterpret,
    resize,
    turning,
    view_ops,
)
from .cast import to_dtype, type_as
from .copies import clone, contiguous, contiguous_copy, sum_to_size
from .diagonals import diag_embed, diagonal, diagonal_infer, tril, triu
from .overwrite import assign_, copy_, fill
from .reshape import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    flatten,
    movedim_op,
    squeeze_all,
    squeeze_dim,
    unsqueeze,
)
from .view_ops import (
    detach,
    expand,
    expand_meta,
    permute,
    reshape,
    t,
    transpose,
    unsafe_strided,
    unsafe_view,
    view,
)

__all__ = [
    "assign_",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "cast",
    "clone",
    "contiguous",
    "contiguous_copy",
    "copies",
    "copy_",
    "detach",
    "diag_embed",
    "diagonal",
    "diagonal_infer",
    "diagonals",
    "expand",
    "expand_meta",
    "fill",
    "flatten",
    "movedim_op",
    "overwrite",
    "permute",
    "reinterpret",
    "reshape",
    "resize",
    "squeeze_all",
    "squeeze_dim",
    "sum_to_size",
    "t",
    "to_dtype",
    "transpose",
    "tril",
    "triu",
    "turning",
    "type_as",
    "unsafe_strided",
    "unsafe_view",
    "unsqueeze",
    "view",
    "view_ops",
]
