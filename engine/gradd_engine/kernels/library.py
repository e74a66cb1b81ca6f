"""The library of compiled kernels. Importing it compiles them, or reads their code from disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import (
    activation_loops,
    class_losses,
    jit_attention,
    jit_channels,
    jit_conv,
    jit_elementwise,
    jit_images,
    jit_indices,
    jit_layout,
    jit_places,
    jit_recurrent,
    jit_sorting,
    loops,
    noise,
    normalize,
    softmax_rows,
    steps,
    sums,
)

if TYPE_CHECKING:
    from .table import Native

#: increase whenever a kernel's bits may change
ID = "jit-6"

NATIVE: dict[str, Native] = {}
for _module in (
    activation_loops, class_losses, jit_attention, jit_channels, jit_conv, jit_elementwise, jit_images,
    jit_indices, jit_layout, jit_places, jit_recurrent, jit_sorting, noise, normalize, softmax_rows,
    steps, sums,
):  # fmt: skip
    NATIVE.update(_module.KERNELS)

#: runs kernels by NumPy's inner loops, where that works here
LOOPS = loops if loops.works() else None
