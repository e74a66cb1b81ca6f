"""The negative log likelihood of class indices on the device, and its gradient.

A kernel that meets a target that is no class says so in a word of the device, which is read where somebody
waits anyway (`noting`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import noting, numel
from .launch import dense, each, empty, kind, launch
from .sources import REALS

if TYPE_CHECKING:
    from collections.abc import Sequence

#: threads of the block that sums losses
THREADS = 256
_TARGET = "Target {} is out of bounds."


def _axes(shape: Sequence[int]) -> tuple[int, int]:
    """The number of classes, and the distance between a target's: the classes are dimension 1, or 0 of 1."""
    axis = 0 if len(shape) == 1 else 1
    return shape[axis], numel(shape[axis + 1 :])


def _takes(a: Any, shape: Sequence[int], target: Any, weight: Any) -> bool:
    return (
        a.dtype.char in REALS
        and 0 not in shape
        and kind(target) in "qB"
        and (weight is None or weight.dtype == a.dtype)
    )


def _forward(plain: Any) -> Any:
    def kernel(xp: Any, input: Any, target: Any, weight: Any, reduction: str, ignore_index: int) -> Any:
        if not _takes(input, input.shape, target, weight):
            return plain(xp, input, target, weight, reduction, ignore_index)
        classes, inner = _axes(input.shape)
        count = input.size // classes
        # a 1-D input has one target, whose loss is a number
        shape = target.shape if input.ndim > 1 else ()
        each_one = empty(xp, shape, input.dtype) if reduction == "none" else None
        loss = None if reduction == "none" else empty(xp, (), input.dtype)
        total = empty(xp, (), input.dtype)
        with noting(xp, classes, IndexError, _TARGET, "nll_loss") as word:
            launch(
                xp, "nll", input.dtype.char + kind(target), (1,), THREADS if count > 32 else 32,
                dense(xp, input), dense(xp, target), dense(xp, weight), each_one, loss, total, word, count,
                classes, inner, int(ignore_index), int(reduction == "mean"),
            )  # fmt: skip
        return each_one if loss is None else loss, total

    return kernel


def _backward(plain: Any) -> Any:
    def kernel(
        xp: Any, grad: Any, target: Any, weight: Any, total_weight: Any, shape: Sequence[int], reduction: str,
        ignore_index: int,
    ) -> Any:  # fmt: skip
        if not _takes(grad, shape, target, weight) or total_weight.dtype != grad.dtype:
            return plain(xp, grad, target, weight, total_weight, shape, reduction, ignore_index)
        classes, inner = _axes(shape)
        out = empty(xp, tuple(shape), grad.dtype)
        with noting(xp, classes, IndexError, _TARGET, "nll_loss") as word:
            each(
                xp, "nll_backward", grad.dtype.char + kind(target), out.size, dense(xp, grad),
                dense(xp, target), dense(xp, weight), total_weight, out, word, out.size, classes, inner,
                int(ignore_index), int(reduction != "none"), int(reduction == "mean"),
            )  # fmt: skip
        return out

    return kernel


NATIVE = {"nll_loss2d": _forward, "nll_loss_backward": _backward, "nll_loss_flat": _forward}
