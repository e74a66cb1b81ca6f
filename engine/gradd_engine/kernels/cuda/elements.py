"""What ops compute of an element that are no compositions of ufuncs, as C++."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .expressions import HELD, literal, named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: for floating-point numbers: x, y are an op's operands, T their type, and names in braces its attributes
_OF_FLOATS = {
    "elu": "elu_of(x, {alpha}, {scale}, {input_scale})",
    "gelu-none": "gelu_of(x)",
    "gelu-tanh": "bent_gelu(x)",
    "gelu_backward-none": "x * gelu_slope(y)",
    "gelu_backward-tanh": "x * bent_slope(y)",
    "leaky_relu": "leaky_of(x, {negative_slope})",
    "relu": "relu_of(x)",
    "sigmoid": "logistic(x)",
    "sigmoid_backward": "x * (((T)1 - y) * y)",
    "silu": "silu_of(x)",
    "silu_backward": "x * silu_slope(y)",
    "tanh_backward": "x * ((T)1 - y * y)",
    "threshold_backward": "above(x, y, {threshold})",
}
#: ops that give their last operand, as another dtype where that is theirs
MOVES = frozenset({"clone", "contiguous_copy", "fill", "to_copy"})
#: ops that give one number everywhere, whatever their operands are
FILLS = {"ones": 1, "ones_like": 1, "zeros": 0, "zeros_like": 0}


def element(op: str, kind: str, operands: Sequence[str], attrs: Mapping[str, Any]) -> str | None:
    """The expression of an op of floating-point operands of one kind; None where there is none here."""
    if kind not in "fd":
        return None
    text = _OF_FLOATS.get(f"{op}-{attrs['approximate']}" if "approximate" in attrs else op)
    if text is None:
        return None
    made = np.dtype(kind).type
    for name, value in attrs.items():
        if f"{{{name}}}" in text:
            if not isinstance(value, (int, float)):
                return None
            text = text.replace(f"{{{name}}}", literal(made(value)))
    return named(text, operands, kind)


def mask(kind: str, p: float) -> str | None:
    """What dropout multiplies element i by; `{key}` stands for the random key."""
    if kind not in "fd":
        return None
    numbers = ", ".join(literal(np.float64(x)) for x in (p, 1 / (1 - p)))
    return f"kept_at<{HELD[kind]}>(i, {numbers}, {{key}})"
