"""`Tensor`, a mirror that fetches its values, and its metaclass.

`_surface.methods` attaches more methods.
"""

from .acquaint import acquaint
from .overriding import (
    NAMES,
    Without,
    WithoutAny,
    decided,
    deciding,
    disabled,
    gate,
    here,
    overrides,
    ungate,
)
from .tensor import Tensor, as_subclass
from .typed import TYPES, TensorType, dtype_of, type_name

__all__ = [
    "NAMES",
    "TYPES",
    "Tensor",
    "TensorType",
    "Without",
    "WithoutAny",
    "acquaint",
    "as_subclass",
    "decided",
    "deciding",
    "disabled",
    "dtype_of",
    "gate",
    "here",
    "overrides",
    "type_name",
    "ungate",
]
