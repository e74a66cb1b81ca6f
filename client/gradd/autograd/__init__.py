"""Automatic differentiation, spelled as torch.autograd. The passes run in the session's daemon."""

from gradd_engine.api import backward, grad
from gradd_engine.modes import enable_grad, no_grad, set_grad_enabled

from . import graph

__all__ = ["backward", "enable_grad", "grad", "graph", "no_grad", "set_grad_enabled"]
