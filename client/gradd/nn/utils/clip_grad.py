"""Limits for gradients (torch.nn.utils.clip_grad).

Source: https://pytorch.org/docs/stable/nn.html#utilities
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from types import GeneratorType
from typing import Any

from gradd_engine.graph import no_grad

from ..._surface import namespace
from ..._tensor import Tensor

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]

_TOP, _LINALG = namespace(""), namespace("linalg")


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Any]:
    held = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.grad for p in held if p._grad is not None]


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """The norm of all elements of `tensors` as one vector, a scalar; 0 of no tensors.

    Fetches nothing unless `error_if_nonfinite`, which raises RuntimeError for a norm of nan or infinity.
    """
    held: list[Any] = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not held:
        return _TOP["zeros"](())
    with no_grad():
        norm = _LINALG["vector_norm"]
        total = norm(_TOP["stack"]([norm(t, norm_type) for t in held]), norm_type)
        if error_if_nonfinite and not bool(total.isfinite()):
            raise RuntimeError(
                f"The total norm of order {float(norm_type)} for gradients from `parameters` is non-finite, "
                "so it cannot be clipped. To disable this error and scale the gradients by the non-finite "
                "norm anyway, set `error_if_nonfinite=False`"
            )
    return total


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Any, foreach: bool | None = None
) -> None:
    """Scale the gradients in place so that what has the norm `total_norm` gets at most `max_norm`."""
    with no_grad():
        scale = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for g in _gradients(parameters):
            g.mul_(scale)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """Scale the gradients in place so that their total norm is at most `max_norm`; returns the norm before.

    Fetches nothing unless `error_if_nonfinite`, which raises RuntimeError for a norm of nan or infinity.
    """
    held = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    if isinstance(parameters, GeneratorType) and not held:
        warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    total = get_total_norm(_gradients(held), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(held, max_norm, total)
    return total


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """Deprecated: `clip_grad_norm_`."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite)


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Clip each element of the gradients to [-clip_value, clip_value], in place."""
    with no_grad():
        for g in _gradients(parameters):
            g.clamp_(-clip_value, clip_value)
