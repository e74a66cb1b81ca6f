"""Element-wise functions of one tensor or of two that broadcast: arithmetic, comparisons, special functions.

Importing this room declares its ops.
"""

from . import (
    aliases,
    arithmetic,
    bessel,
    binary,
    binary_more,
    comparison,
    complex,
    divisors,
    float_parts,
    gamma,
    hankel,
    incomplete_gamma,
    operators,
    polynomials,
    rounding,
    scalars,
    special,
    unary,
)
from .arithmetic import add, div, mul, neg, rsub, sub
from .binary import clamp, maximum, minimum, where
from .binary_more import lerp
from .comparison import eq, logical_xor
from .complex import real
from .erf import erf
from .gamma import digamma, lgamma
from .scalars import add_scalar, div_scalar, mul_scalar
from .unary import abs, exp, nan_to_num, recorded, sgn, sigmoid, sign, tanh

__all__ = [
    "abs",
    "add",
    "add_scalar",
    "aliases",
    "arithmetic",
    "bessel",
    "binary",
    "binary_more",
    "clamp",
    "comparison",
    "complex",
    "digamma",
    "div",
    "div_scalar",
    "divisors",
    "eq",
    "erf",
    "exp",
    "float_parts",
    "gamma",
    "hankel",
    "incomplete_gamma",
    "lerp",
    "lgamma",
    "logical_xor",
    "maximum",
    "minimum",
    "mul",
    "mul_scalar",
    "nan_to_num",
    "neg",
    "operators",
    "polynomials",
    "real",
    "recorded",
    "rounding",
    "rsub",
    "scalars",
    "sgn",
    "sigmoid",
    "sign",
    "special",
    "sub",
    "tanh",
    "unary",
    "where",
]
