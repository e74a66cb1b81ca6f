"""A session's tensors by id and by name, and the values of tensors as they go out.

A result too large for a reply is pinned: it waits until its writer has read it.
"""

from .pins import Pins, taken, values_of
from .table import TensorTable, describe

__all__ = ["Pins", "TensorTable", "describe", "taken", "values_of"]
