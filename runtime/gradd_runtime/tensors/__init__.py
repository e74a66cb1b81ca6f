"""A session's tensors by id and by name, and their values for replies; sums of those of several sessions.

A result too large for its reply is pinned until its writer has read it.
"""

from .combined import combined
from .pins import Pins, own_memory, taken, values_of
from .table import Marks, TensorTable, describe

__all__ = ["Marks", "Pins", "TensorTable", "combined", "describe", "own_memory", "taken", "values_of"]
