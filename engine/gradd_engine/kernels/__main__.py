"""`python -m gradd_engine.kernels` compiles kernels ahead of their first use and prints the table's id."""

from __future__ import annotations

from ..backends.numpy import NUMPY

print(NUMPY.kernels.id)
