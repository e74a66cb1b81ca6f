"""What the families of ops share: helpers of `infer`, numbers and literals as tensors, constants.

Importing this room declares its ops.
"""

from . import (
    common,
    constants,
    image_layout,
    number,
    zero_gradient,
)
from .common import (
    NUMBERS,
    as_list,
    broadcast,
    broadcast_bool,
    broadcast_float,
    conj,
    contiguous_like,
    nonzero_divisor,
    np_dtype,
    pointwise_meta,
    refuse,
    return_type,
    same,
    storable,
)
from .constants import checked, full, like, ones_like, sized, tensor, zeros, zeros_like
from .expanded import fill_shared, memory_of
from .image_layout import each_dim, image_strides, kept_format
from .literal import literal
from .number import CPP, computed_in, element, fits, number_first, operands_fit, stored
from .zero_gradient import constant_in

__all__ = [
    "CPP",
    "NUMBERS",
    "as_list",
    "broadcast",
    "broadcast_bool",
    "broadcast_float",
    "checked",
    "common",
    "computed_in",
    "conj",
    "constant_in",
    "constants",
    "contiguous_like",
    "each_dim",
    "element",
    "fill_shared",
    "fits",
    "full",
    "image_layout",
    "image_strides",
    "kept_format",
    "like",
    "literal",
    "memory_of",
    "nonzero_divisor",
    "np_dtype",
    "number",
    "number_first",
    "ones_like",
    "operands_fit",
    "pointwise_meta",
    "refuse",
    "return_type",
    "same",
    "sized",
    "storable",
    "stored",
    "tensor",
    "zero_gradient",
    "zeros",
    "zeros_like",
]
