"""Automatic differentiation, spelled as torch.autograd. The passes run in the session's daemon."""

from gradd_engine.anomaly import detect_anomaly, set_detect_anomaly
from gradd_engine.api import backward, grad
from gradd_engine.function import Function
from gradd_engine.modes import enable_grad, no_grad, set_grad_enabled

from . import forward_ad, function, functional, graph
from .gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = [
    "Function",
    "GradcheckError",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]
