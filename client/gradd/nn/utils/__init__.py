"""Helpers for parameters (torch.nn.utils): gradient clipping, parameters as one vector.

Source: https://pytorch.org/docs/stable/nn.html#utilities
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.graph import no_grad

from ..._surface import namespace
from ..._tensor import Tensor
from . import rnn as rnn

if TYPE_CHECKING:
    from collections.abc import Iterable

_TOP = namespace("")


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Any]:
    held = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.grad for p in held if p._grad is not None]


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
    grads = _gradients(parameters)
    if not grads:
        return _TOP["zeros"](())
    with no_grad():
        if norm_type == float("inf"):
            total = _TOP["stack"]([g.abs().max() for g in grads]).max()
        else:
            powers = [g.abs().pow(norm_type).sum() for g in grads]
            total = _TOP["stack"](powers).sum().pow(1.0 / norm_type)
        if error_if_nonfinite and not bool(total.isfinite()):
            raise RuntimeError(
                f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it "
                "cannot be clipped. To disable this error and scale the gradients by the non-finite norm "
                "anyway, set `error_if_nonfinite=False`"
            )
        scale = (max_norm / (total + 1e-6)).clamp(max=1.0)
        for g in grads:
            g.mul_(scale)
    return total


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Clip each element of the gradients to [-clip_value, clip_value], in place."""
    with no_grad():
        for g in _gradients(parameters):
            g.clamp_(-clip_value, clip_value)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Any:
    """All elements as one vector."""
    return _TOP["cat"]([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Any, parameters: Iterable[Tensor]) -> None:
    """Write the elements of one vector into the parameters."""
    at = 0
    with no_grad():
        for p in parameters:
            n = p.numel()
            p.copy_(vec[at : at + n].view(p.shape))
            at += n
