"""`Tensor`, a mirror that fetches its values, and its metaclass.

`_surface.methods` attaches more methods.
"""

from .tensor import Tensor, as_subclass
from .typed import TYPES, TensorType, type_name

__all__ = ["TYPES", "Tensor", "TensorType", "as_subclass", "type_name"]
