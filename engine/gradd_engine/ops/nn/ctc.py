"""Connectionist temporal classification: sequences against shorter targets, over all alignments.

Source: https://pytorch.org/docs/stable/generated/torch.nn.functional.ctc_loss.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes
from ...declare import composite, kernel, public
from ...graph import TURN
from ...kernels import alignment_losses, alignment_slopes, padded_targets
from ...schema import named
from ..elementwise import div, where
from ..shape import to_dtype
from .losses import reduced, reduction_of

if TYPE_CHECKING:
    from ...schema import Op
    from ...tensor import Tensor

_WHERE = "(while checking arguments for ctc_loss_allocate_outputs)"


def _infer(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int,
    zero_infinity: bool,
) -> Meta:
    if log_probs.ndim != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {log_probs.ndim}-dimensional tensor for argument #1 "
            f"'log_probs' {_WHERE}"
        )
    _, n, classes = log_probs.shape
    for name, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        if lengths.dtype is not dtypes.int64:
            raise RuntimeError(f"{name} must be integral")
        if tuple(lengths.shape) != (n,):
            raise RuntimeError(f"{name} must be of size batch_size")
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    if targets.dtype is not dtypes.int64 or targets.ndim not in (1, 2):
        raise RuntimeError(
            f"ctc_loss(): targets are one or two dimensions of Long, not {list(targets.shape)}"
        )
    if targets.ndim == 2 and targets.shape[0] != n:
        raise RuntimeError(
            f"Expected tensor to have size {n} at dimension 0, but got size {targets.shape[0]} for argument "
            f"#2 'targets' {_WHERE}"
        )
    if log_probs.dtype not in (dtypes.float32, dtypes.float64):
        raise NotImplementedError(f"\"ctc_loss_cpu\" not implemented for '{log_probs.dtype.title}'")
    return Meta((n,), log_probs.dtype)


def _checked(xp: Any, log_probs: Any, targets: Any, steps: Any, lengths: Any) -> Any:
    """The targets of the batch; RuntimeError in PyTorch's words for lengths and classes that do not fit."""
    most, _, classes = log_probs.shape
    if lengths.size and int(lengths.min()) < 0:
        raise RuntimeError(
            f"Expected target_lengths to have value at least 0, but got value {int(lengths.min())} {_WHERE}"
        )
    for bad in steps[(steps < 0) | (steps > most)][:1]:
        bound = f"most {most}" if bad > 0 else "least 0"
        raise RuntimeError(
            f"Expected input_lengths to have value at {bound}, but got value {int(bad)} {_WHERE}"
        )
    longest, whole = (int(lengths.max()), int(lengths.sum())) if lengths.size else (0, 0)
    if targets.ndim == 2 and longest > targets.shape[1]:
        raise RuntimeError(
            f"Expected tensor to have size at least {longest} at dimension 1, but got size "
            f"{targets.shape[1]} for argument #2 'targets' {_WHERE}"
        )
    if targets.ndim == 1 and whole != targets.shape[0]:
        raise RuntimeError(
            f"Expected tensor to have size {whole} at dimension 0, but got size {targets.shape[0]} for "
            f"argument #2 'targets' {_WHERE}"
        )
    found = padded_targets(xp, targets, lengths)
    used = xp.arange(longest) < lengths[:, None]
    if bool(((found < 0) | (found >= classes))[used].any()):
        raise RuntimeError(f"ctc_loss(): a target is none of {classes} classes")
    return xp.where(used, found, 0)


def _losses(
    xp: Any, log_probs: Any, targets: Any, steps: Any, lengths: Any, blank: int, zero_infinity: bool
) -> Any:
    found = _checked(xp, log_probs, targets, steps, lengths)
    return alignment_losses(xp, log_probs, found, steps, lengths, blank)


def _slopes(
    xp: Any,
    grad: Any,
    log_probs: Any,
    targets: Any,
    steps: Any,
    lengths: Any,
    blank: int,
    zero_infinity: bool,
) -> Any:
    wanted = _checked(xp, log_probs, targets, steps, lengths)
    losses, slopes = alignment_slopes(xp, log_probs, wanted, steps, lengths, blank)
    found = slopes * grad[None, :, None]
    return xp.where(xp.isinf(losses)[None, :, None], 0, found) if zero_infinity else found


def _slopes_infer(grad: Tensor, log_probs: Tensor, *others: Any, **how: Any) -> Meta:
    loss = _infer(log_probs, *others, **how)
    if tuple(grad.shape) != loss.shape or grad.dtype is not log_probs.dtype:
        raise RuntimeError(
            f"ctc_loss_backward(): {grad.dtype} {list(grad.shape)} is no gradient of {loss.shape}"
        )
    return Meta(tuple(log_probs.shape), log_probs.dtype)


def _cost(log_probs: Tensor, targets: Tensor, turns: int) -> tuple[int, int]:
    """Turns for each time step, and a number for each time, sample and state, with more for one time."""
    steps, n, classes = log_probs.shape
    states = 2 * targets.shape[-1] + 1
    return TURN * steps * turns, 8 * n * ((steps + 16) * states + 4 * classes)


_HOW = (
    "Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, *, int blank, "
    "bool zero_infinity"
)

losses: Op = kernel(
    f"ctc_losses({_HOW}) -> Tensor",
    infer=_infer,
    impl=_losses,
    waits=True,
    cost=lambda log_probs, targets, *_, **__: _cost(log_probs, targets, 16),
    vjp={
        "log_probs": lambda g, log_probs, targets, input_lengths, target_lengths, blank, zero_infinity: (
            slopes(
                g, log_probs, targets, input_lengths, target_lengths, blank=blank, zero_infinity=zero_infinity
            )
        )
    },
    node="CtcLossBackward0",
    namespace="-",
    outside=True,
    doc="Negative log-likelihoods [N] of targets under log-probabilities [T, N, C], over all alignments.",
    autocast={"cpu": "float32"},
)

slopes: Op = kernel(
    f"ctc_loss_backward(Tensor grad, {_HOW}) -> Tensor",
    infer=_slopes_infer,
    impl=_slopes,
    waits=True,
    cost=lambda grad, log_probs, targets, *_, **__: _cost(log_probs, targets, 48 + 2 * targets.shape[-1]),
    refuses=lambda attrs: RuntimeError("derivative for aten::_ctc_loss_backward is not implemented"),
    namespace="-",
    outside=True,
    doc="The gradient of the losses for what log_probs are the log-softmax of, as PyTorch has it.",
)

numbers: Op = kernel(
    "whole_numbers(*, int[] values) -> Tensor",
    infer=lambda values: Meta((len(values),), dtypes.int64),
    impl=lambda xp, values: xp.asarray(values, dtype=xp.int64).reshape(len(values)),
    namespace="-",
    outside=True,
    doc="These whole numbers.",
    raises=False,
)


def _ctc(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int,
    reduction: str,
    zero_infinity: bool,
    input_sizes: list[int] | None,
    target_sizes: list[int] | None,
) -> Any:
    if input_lengths is None:
        input_lengths = numbers(values=input_sizes or [])
    if target_lengths is None:
        target_lengths = numbers(values=target_sizes or [])
    single = log_probs.ndim == 2
    if single:
        log_probs = log_probs.unsqueeze(1)
        targets = targets.unsqueeze(0) if targets.ndim == 1 else targets
        input_lengths, target_lengths = (x.reshape([x.numel()]) for x in (input_lengths, target_lengths))
    for name, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        if lengths.dtype.category != dtypes.INT:
            raise RuntimeError(f"{name} must be integral")
    targets, steps, lengths = (to_dtype(x, dtypes.int64) for x in (targets, input_lengths, target_lengths))
    found = losses(log_probs, targets, steps, lengths, blank=blank, zero_infinity=zero_infinity)
    if zero_infinity:
        found = where(found.eq(float("inf")), 0.0, found)
    if reduction == "mean":
        return div(found, to_dtype(where(named.ge(lengths, 1), lengths, 1), found.dtype)).mean()
    return found.squeeze(0) if single and reduction == "none" else reduced(found, reduction)


ctc: Op = composite(
    "ctc_loss(Tensor log_probs, Tensor targets, Tensor? input_lengths, Tensor? target_lengths, int blank=0, "
    "str reduction='mean', bool zero_infinity=False, *, int[]? input_sizes=None, int[]? target_sizes=None)"
    " -> Tensor",
    body=_ctc,
    namespace="-",
    outside=True,
    doc="Connectionist temporal classification (torch.nn.functional.ctc_loss), lengths as tensors or sizes.",
)


@public(
    "nn.functional",
    forms="(log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[int], "
    "target_lengths: Tensor | Sequence[int], blank=0, reduction='mean', zero_infinity=False) -> Tensor",
)
def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """See torch.nn.functional.ctc_loss; lengths are tensors or sequences of ints."""
    lengths = (input_lengths, target_lengths)
    given = [None if isinstance(x, (list, tuple)) else x for x in lengths]
    sizes = [list(x) if isinstance(x, (list, tuple)) else None for x in lengths]
    return ctc(
        log_probs,
        targets,
        *given,
        blank,
        reduction_of(reduction),
        zero_infinity,
        input_sizes=sizes[0],
        target_sizes=sizes[1],
    )
