"""What a call leaves besides values: `infer`, the node that records it, views, in-place history, tangents."""

from . import conjugate, recording, view_history
from .conjugate import physical
from .cost import TURN, Estimate, TooMuchWork, charge, spend, spread
from .infer import LISTS, PLAIN, infer, learn
from .inplace_history import check_inference, check_memory, check_overlap, check_result, check_target, rebase
from .misfit import NotAsInferred, misfit, stated
from .modes import (
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from .op_node import OpNode, all_shaped, cast_gradient, conj, expandable, shaped
from .tangents import LEVELS, Level, apart, has_tangent, keep, levels_of, propagate, tangent_of, write
from .view_history import CUSTOM, INFERENCE, MULTI_VIEW, NO_GRAD, CopySlices

__all__ = [
    "CUSTOM",
    "INFERENCE",
    "LEVELS",
    "LISTS",
    "MULTI_VIEW",
    "NO_GRAD",
    "PLAIN",
    "TURN",
    "CopySlices",
    "Estimate",
    "Level",
    "NotAsInferred",
    "OpNode",
    "TooMuchWork",
    "all_shaped",
    "apart",
    "cast_gradient",
    "charge",
    "check_inference",
    "check_memory",
    "check_overlap",
    "check_result",
    "check_target",
    "conj",
    "conjugate",
    "enable_grad",
    "enforce_grad_layout_policy",
    "expandable",
    "has_tangent",
    "infer",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_multithreading_enabled",
    "keep",
    "learn",
    "levels_of",
    "misfit",
    "no_grad",
    "physical",
    "propagate",
    "rebase",
    "recording",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "shaped",
    "spend",
    "spread",
    "stated",
    "tangent_of",
    "view_history",
    "write",
]
