"""From a declaration to a call: declarators, the function of an op, `dispatch`, and the names users see."""

from .arguments import REFUSED, flat_tensors, invalid_combination
from .autocast import (
    Casting,
    casting,
    clear_casts,
    enter_region,
    leave_region,
    separate_casts,
    set_casting,
)
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
    of_expanded,
    stateful,
    view,
)
from .dispatch import backend_of, default_backend, execute, shown, written
from .methods import attach, attach_as_is, typed
from .surface import CREATES, PUBLIC, all_tensors, functions, of_tensor, public
from .texts import TEXTS

__all__ = [
    "BILINEAR",
    "CREATES",
    "ELEMENTWISE",
    "LINEAR",
    "PUBLIC",
    "REFUSED",
    "REGISTRY",
    "TEXTS",
    "Casting",
    "InPlace",
    "Joint",
    "all_tensors",
    "attach",
    "attach_as_is",
    "backend_of",
    "casting",
    "clear_casts",
    "composite",
    "default_backend",
    "elementwise",
    "enter_region",
    "execute",
    "flat_tensors",
    "functions",
    "invalid_combination",
    "kernel",
    "leave_region",
    "of_expanded",
    "of_tensor",
    "public",
    "separate_casts",
    "set_casting",
    "shown",
    "stateful",
    "typed",
    "view",
    "written",
]
