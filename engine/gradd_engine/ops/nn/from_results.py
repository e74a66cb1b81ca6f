"""Gradients of activations in place, from what they left, since the input is gone; as in PyTorch, writing to
that again is an error then.
"""

from __future__ import annotations

from typing import Any

from ..elementwise import where

_NEGATIVE = (
    "calculation is triggered with a negative slope which is not supported. This is caused by calling "
    "in-place forward function with a negative slope, please call out-of-place version instead."
)


def leaky_left(g: Any, out: Any, negative_slope: float) -> Any:
    """Of what `leaky_relu_` left: the sign is the input's. RuntimeError where the slope turned it."""
    if negative_slope < 0:
        raise RuntimeError(
            f"In-place leakyReLu backward {_NEGATIVE} File an issue at https://github.com/pytorch/pytorch if "
            "you do require supporting in-place leakRelu backward calculation with negative slope"
        )
    return where(out > 0, g, g * negative_slope)


def elu_left(g: Any, out: Any, alpha: float, scale: float = 1.0, input_scale: float = 1.0) -> Any:
    """Of what `elu_` left: the sign is the input's. RuntimeError where `alpha` turned it."""
    if alpha < 0:
        raise RuntimeError(f"In-place elu backward {_NEGATIVE}")
    return g * where(out <= 0, (out + alpha * scale) * input_scale, float(scale))


def celu_left(g: Any, out: Any, alpha: float) -> Any:
    """Of what `celu_` left, as `elu_left`."""
    return elu_left(g, out, alpha, 1.0, 1.0 / alpha)
