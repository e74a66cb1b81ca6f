"""Importing this declares every op: the families of `ops`, and those that act on autograd's own state."""

from . import ops
from .backward import autograd, edges, gradients, passes, saved_hooks
from .custom import custom_node, function, seeding
from .transforms import forward_ad

__all__ = [
    "autograd", "custom_node", "edges", "forward_ad", "function", "gradients", "ops", "passes",
    "saved_hooks", "seeding",
]  # fmt: skip
