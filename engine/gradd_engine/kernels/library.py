"""The library of compiled kernels. Importing it compiles them, or reads their code from disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import activation_loops as elementwise
from . import class_losses as losses
from . import jit_conv, jit_images, jit_places, jit_recurrent, loops, noise, normalize, steps, sums
from . import softmax_rows as softmax

if TYPE_CHECKING:
    from .table import Native

#: increase whenever a kernel's bits may change
ID = "jit-4"

NATIVE: dict[str, Native] = {}
for _module in (
    elementwise, jit_conv, jit_images, jit_places, jit_recurrent, losses, noise, normalize, softmax, steps,
    sums,
):  # fmt: skip
    NATIVE.update(_module.KERNELS)

#: runs kernels by NumPy's inner loops, where that works here
LOOPS = loops if loops.works() else None
