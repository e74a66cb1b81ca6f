"""From an op's name to what makes its device kernel, and a name for the whole."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from . import (
    activating,
    attending,
    averaging,
    channel_norms,
    convolving,
    draws,
    indexing,
    joining,
    layer_norms,
    lengths,
    likelihoods,
    optimizers,
    pooled,
    products,
    recurring,
    reducing,
    runs,
    scaling,
    scattering,
    softmaxes,
)
from .sources import KERNELS, source_of

if TYPE_CHECKING:
    from collections.abc import Callable

    Kernel = Callable[..., Any]

#: what makes a device kernel from the one over CuPy's functions, which it falls back to
NATIVE: dict[str, Callable[[Kernel], Kernel]] = {}
for _module in (
    activating, attending, averaging, channel_norms, convolving, draws, indexing, joining, layer_norms,
    lengths, likelihoods, optimizers, pooled, products, recurring, reducing, runs, scaling, scattering,
    softmaxes,
):  # fmt: skip
    NATIVE.update(_module.NATIVE)

#: ops of tensors alone whose kernels take 16-bit numbers as they are, not made float32
NARROW: frozenset[str] = products.NARROW

_TEXTS = "".join(source_of(name) for name in sorted({k.source for k in KERNELS.values()}))
#: changes with the sources
IDENTITY = f"cuda-{hashlib.sha256(_TEXTS.encode()).hexdigest()[:12]}"
