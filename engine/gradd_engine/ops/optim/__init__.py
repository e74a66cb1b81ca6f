"""Optimizer steps: one op per parameter group.

Importing this room declares its ops.
"""

from . import (
    adaptive_steps,
    gradient_steps,
    moment_steps,
    rate_steps,
)

__all__ = [
    "adaptive_steps",
    "gradient_steps",
    "moment_steps",
    "rate_steps",
]
