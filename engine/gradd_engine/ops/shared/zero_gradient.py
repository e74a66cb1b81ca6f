"""Zeros as the gradient of what does not depend on an input, where PyTorch says zeros and not None."""

from __future__ import annotations

from typing import Any

from ...data import Meta, state
from ...declare import view
from ...schema import named
from ...tensor import Tensor

_constant_in = view(
    "constant_in(Tensor input, Tensor other) -> Tensor",
    infer=lambda input, other: Meta(tuple(input.shape), input.dtype, tuple(input.strides), input.offset),
    vjp={
        "input": lambda g: g,
        "other": lambda other_meta: named.zeros(list(other_meta.shape), dtype=other_meta.dtype),
    },
    jvp=lambda input_t: input_t,
    namespace="-",
    outside=True,
    doc="`input`, whose gradient with respect to `other` is zeros.",
    relative=True,
)


def constant_in(input: Any, other: Tensor) -> Any:
    """`input` with a gradient of zeros for `other`, where a pass is recorded that leads to it."""
    return _constant_in(input, other) if state.grad and other.requires_grad else input
