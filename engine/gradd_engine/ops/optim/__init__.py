"""Steps of optimizers: one op per group of parameters.

Importing this room declares its ops.
"""

from . import (
    adaptive_steps,
    gradient_steps,
)

__all__ = [
    "adaptive_steps",
    "gradient_steps",
]
