"""`Tensor`, a mirror that fetches its values, and its metaclass.

`_surface.methods` attaches more methods.
"""

from .acquaint import acquaint
from .tensor import Tensor, as_subclass
from .typed import TYPES, TensorType, dtype_of, type_name

__all__ = ["TYPES", "Tensor", "TensorType", "acquaint", "as_subclass", "dtype_of", "type_name"]
