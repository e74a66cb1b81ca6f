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
    erf,
    float_parts,
    gamma,
    operators,
    rounding,
    scalars,
    special,
    unary,
)

__all__ = [
    "aliases",
    "arithmetic",
    "bessel",
    "binary",
    "binary_more",
    "comparison",
    "complex",
    "divisors",
    "erf",
    "float_parts",
    "gamma",
    "operators",
    "rounding",
    "scalars",
    "special",
    "unary",
]
