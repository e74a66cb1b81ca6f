"""From a declaration to a call: declarators, the function of an op, `dispatch`, and the names users see."""

from .arguments import flat_tensors, invalid_combination
from .declarators import (
    BILINEAR,
    ELEMENTWISE,
    LINEAR,
    REGISTRY,
    InPlace,
    Joint,
    composite,
    elementwise,
    kernel,
    stateful,
    view,
)
from .dispatch import backend_of, default_backend, shown, written
from .methods import attach, attach_as_is, typed
from .surface import CREATES, PUBLIC, all_tensors, functions, of_tensor, public

__all__ = [
    "BILINEAR",
    "CREATES",
    "ELEMENTWISE",
    "LINEAR",
    "PUBLIC",
    "REGISTRY",
    "InPlace",
    "Joint",
    "all_tensors",
    "attach",
    "attach_as_is",
    "backend_of",
    "composite",
    "default_backend",
    "elementwise",
    "flat_tensors",
    "functions",
    "invalid_combination",
    "kernel",
    "of_tensor",
    "public",
    "shown",
    "stateful",
    "typed",
    "view",
    "written",
]
