"""Automatic differentiation, spelled as torch.autograd. The passes run in the session's daemon."""

from gradd_engine.api import backward, grad
from gradd_engine.modes import enable_grad, no_grad, set_grad_enabled

from . import forward_ad, functional

__all__ = ["backward", "enable_grad", "forward_ad", "functional", "grad", "no_grad", "set_grad_enabled"]
