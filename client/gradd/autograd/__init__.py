"""Automatic differentiation, as torch.autograd. Passes run in the session's daemon."""

from gradd_engine.backward import SavedTensor, backward, detect_anomaly, grad, set_detect_anomaly
from gradd_engine.custom import Function
from gradd_engine.graph import (
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from gradd_engine.legacy import Variable

from . import anomaly_mode, forward_ad, function, functional, grad_mode, graph, profiler, variable
from .gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = [
    "Function",
    "GradcheckError",
    "SavedTensor",
    "Variable",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "enforce_grad_layout_policy",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_multithreading_enabled",
    "no_grad",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]
