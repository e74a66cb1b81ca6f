"""Automatic differentiation, spelled as torch.autograd. The passes run in the session's daemon."""

from gradd_engine.api import backward, grad
from gradd_engine.legacy import Variable
from gradd_engine.modes import (
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    no_grad,
    set_grad_enabled,
)

__all__ = [
    "Variable",
    "backward",
    "enable_grad",
    "enforce_grad_layout_policy",
    "grad",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
]
