"""The backward pass: its executor, hooks, accumulation, anomaly mode, and PyTorch's entry points."""

from . import autograd, backward_op, dry_run, edges, grad_op, gradients, hooks, passes, saved_hooks
from .accumulate import accumulate
from .anomaly import (
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_anomaly_enabled,
    set_detect_anomaly,
)
from .autograd import untracked
from .backward_op import backward, cotangents, is_warn_always_enabled, set_warn_always
from .dry_run import give_history
from .edges import GradientEdge, Look, forget_look, get_gradient_edge, name_class
from .executor import GraphTask, meets_callables
from .grad_op import grad, run_grad
from .gradients import zero_grad
from .hooks import register_multi_grad_hook
from .mutation import allow_mutation_on_saved_tensors
from .saved_hooks import SavedTensor, disable_saved_tensors_hooks, saved_tensors_hooks

__all__ = [
    "GradientEdge",
    "GraphTask",
    "Look",
    "SavedTensor",
    "accumulate",
    "allow_mutation_on_saved_tensors",
    "autograd",
    "backward",
    "backward_op",
    "cotangents",
    "detect_anomaly",
    "disable_saved_tensors_hooks",
    "dry_run",
    "edges",
    "forget_look",
    "get_gradient_edge",
    "give_history",
    "grad",
    "grad_op",
    "gradients",
    "hooks",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_warn_always_enabled",
    "meets_callables",
    "name_class",
    "passes",
    "register_multi_grad_hook",
    "run_grad",
    "saved_hooks",
    "saved_tensors_hooks",
    "set_anomaly_enabled",
    "set_detect_anomaly",
    "set_warn_always",
    "untracked",
    "zero_grad",
]
