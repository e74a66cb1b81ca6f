"""Batch and group norm on the device: a block a channel, or a group of a sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import numel
from .launch import dense, each, empty, launch, row_threads, sum_threads
from .sources import REALS

if TYPE_CHECKING:
    from collections.abc import Sequence


def _takes(input: Any, *others: Any) -> bool:
    return (
        input.dtype.char in REALS
        and input.size > 0
        and all(t is None or t.dtype == input.dtype for t in others)
    )


def _sizes(input: Any) -> tuple[int, int, int]:
    samples, channels = input.shape[:2]
    return samples, channels, numel(input.shape[2:])


def _train(plain: Any) -> Any:
    def kernel(
        xp: Any, input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, momentum: float,
        eps: float,
    ) -> Any:  # fmt: skip
        written = [t for t in (running_mean, running_var) if t is not None]
        fits = all(t.flags.c_contiguous for t in written)
        if not fits or not _takes(input, weight, bias, *written):
            return plain(xp, input, weight, bias, running_mean, running_var, momentum, eps)
        samples, channels, size = _sizes(input)
        kept = (1, channels) + (1,) * (input.ndim - 2)
        out, mean, rstd = (empty(xp, s, input.dtype) for s in (input.shape, kept, kept))
        launch(
            xp, "batch_norm", input.dtype.char, (channels,), sum_threads(samples * size), dense(xp, input),
            dense(xp, weight), dense(xp, bias), running_mean, running_var, out, mean, rstd, samples, channels,
            size, float(momentum), float(eps),
        )  # fmt: skip
        return out, mean, rstd

    return kernel


def _eval(plain: Any) -> Any:
    def kernel(
        xp: Any, input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, eps: float
    ) -> Any:
        given = (weight, bias, running_mean, running_var)
        if not _takes(input, *given):
            return plain(xp, input, *given, eps)
        _, channels, size = _sizes(input)
        out = empty(xp, input.shape, input.dtype)
        each(
            xp, "batch_norm_eval", input.dtype.char, out.size, dense(xp, input),
            *[dense(xp, t) for t in given], out, out.size, channels, size, float(eps),
        )  # fmt: skip
        return out

    return kernel


def _group(plain: Any) -> Any:
    def kernel(xp: Any, input: Any, weight: Any, bias: Any, num_groups: int, eps: float) -> Any:
        if not _takes(input, weight, bias):
            return plain(xp, input, weight, bias, num_groups, eps)
        samples, channels, size = _sizes(input)
        width, kept = channels // num_groups, (samples, num_groups, 1)
        out, mean, rstd = (empty(xp, s, input.dtype) for s in (input.shape, kept, kept))
        launch(
            xp, "group_norm", input.dtype.char, (samples * num_groups,), row_threads(width * size),
            dense(xp, input), dense(xp, weight), dense(xp, bias), out, mean, rstd, num_groups, width, size,
            float(eps),
        )  # fmt: skip
        return out, mean, rstd

    return kernel


def _backward(plain: Any) -> Any:
    def kernel(
        xp: Any, grad: Any, input: Any, mean: Any, rstd: Any, weight: Any, wanted: Sequence[bool],
        groups: int, eps: float,
    ) -> Any:  # fmt: skip
        if not _takes(input, grad, mean, rstd, weight):
            return plain(xp, grad, input, mean, rstd, weight, wanted, groups, eps)
        samples, channels, size = _sizes(input)
        types, shapes = input.dtype.char, (input.shape, (channels,), (channels,))
        outs = [empty(xp, s, input.dtype) if yes else None for s, yes in zip(shapes, wanted, strict=True)]
        given = [dense(xp, t) for t in (grad, input, mean, rstd)]
        factors, threads = dense(xp, weight), sum_threads(samples * size)
        if not groups:
            launch(
                xp, "batch_norm_backward", types, (channels,), threads, *given, factors, *outs, samples,
                channels, size,
            )  # fmt: skip
            return [o for o in outs if o is not None]
        width = channels // groups
        if wanted[0]:
            launch(
                xp, "group_norm_input", types, (samples * groups,), row_threads(width * size), *given,
                factors, outs[0], groups, width, size,
            )  # fmt: skip
        if wanted[1] or wanted[2]:
            launch(
                xp, "group_norm_channels", types, (channels,), threads, *given, *outs[1:], samples, groups,
                width, size,
            )  # fmt: skip
        return [o for o in outs if o is not None]

    return kernel


NATIVE = {
    "batch_norm_eval": _eval,
    "channel_norm_backward": _backward,
    "native_batch_norm": _train,
    "native_group_norm": _group,
}
