"""A session's tensors by id and by name, and their values for replies.

A result too large for its reply is pinned until its writer has read it.
"""

from .pins import Pins, taken, values_of
from .table import TensorTable, describe

__all__ = ["Pins", "TensorTable", "describe", "taken", "values_of"]
