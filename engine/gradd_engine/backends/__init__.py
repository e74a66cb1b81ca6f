"""Where arrays live: NumPy, CuPy, and tensors without numbers. A backend allocates, makes views and runs
kernels; ops never name one.
"""

from .array import ALONE, NUMPY

__all__ = [
    "ALONE",
    "NUMPY",
]
