"""What the families of ops share: helpers of `infer`, numbers and literals as tensors, constants.

Importing this room declares its ops.
"""

from . import (
    common,
    constants,
    image_layout,
    literal,
    number,
    zero_gradient,
)

__all__ = [
    "common",
    "constants",
    "image_layout",
    "literal",
    "number",
    "zero_gradient",
]
