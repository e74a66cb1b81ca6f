"""Automatic differentiation, spelled as torch.autograd. The passes run in the session's daemon."""

from gradd_engine.api import backward, grad
from gradd_engine.modes import enable_grad, no_grad, set_grad_enabled

from .gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = [
    "GradcheckError",
    "backward",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "no_grad",
    "set_grad_enabled",
]
