"""Optimizer steps: one op per parameter group; and gradients of scaled losses.

Importing this room declares its ops.
"""

from . import (
    adaptive_steps,
    gradient_steps,
    moment_steps,
    rate_steps,
    scaling,
    skipping,
)

__all__ = [
    "adaptive_steps",
    "gradient_steps",
    "moment_steps",
    "rate_steps",
    "scaling",
    "skipping",
]
