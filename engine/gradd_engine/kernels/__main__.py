"""`python -m gradd_engine.kernels` compiles kernels ahead of their first use and prints the table's id."""

from __future__ import annotations

import numpy as np

from . import KernelTable

print(KernelTable(np).id)
