"""Optimizer steps: one call per parameter, in one pass over it and its state."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import floating
from .native import BOOL, DOUBLE, SINGLES, compiled


@compiled(1, 1, 1, DOUBLE, DOUBLE, DOUBLE, DOUBLE, BOOL, BOOL, BOOL)
def _sgd(
    p: Any, g: Any, held: Any, lr: float, momentum: float, dampening: float, decay: float, nesterov: bool,
    maximize: bool, first: bool,
) -> None:  # fmt: skip
    number = p.dtype.type
    rate, sign, shrink = number(-lr), number(-1 if maximize else 1), number(decay)
    if held.size == 0:
        for i in range(p.size):
            p[i] += (g[i] * sign + p[i] * shrink) * rate if decay != 0 else g[i] * sign * rate
        return
    keep = number(momentum)
    damp = number(1 - dampening)
    for i in range(p.size):
        slope = g[i] * sign
        if decay != 0:
            slope += p[i] * shrink
        buffer = slope if first else held[i] * keep + slope * damp
        held[i] = buffer
        p[i] += (slope + buffer * keep if nesterov else buffer) * rate


@compiled(1, 1, 1, 1, 1, SINGLES, DOUBLE, DOUBLE, DOUBLE, DOUBLE, DOUBLE, BOOL, BOOL)
def _adam(
    p: Any, g: Any, mean: Any, square: Any, largest: Any, step: Any, lr: float, beta1: float, beta2: float,
    eps: float, decay: float, maximize: bool, decoupled: bool,
) -> None:  # fmt: skip
    number = p.dtype.type
    step[0] += np.float32(1)
    count = np.float64(step[0])
    scale = number(-lr / (1 - beta1**count))
    inverse = number(1 / (1 - beta2**count) ** 0.5)
    sign = number(-1 if maximize else 1)
    shrink = number(1 - lr * decay if decoupled else 1)
    add = number(0 if decoupled else decay)
    weight, keep = number(1 - beta1), number(1 - (1 - beta1))
    near = abs(1 - beta1) < 0.5
    keep2, weight2 = number(beta2), number(1 - beta2)
    least = number(eps)
    amsgrad = largest.size > 0
    for i in range(p.size):
        value = p[i]
        slope = g[i] * sign
        if decay != 0:
            slope += value * add
            value *= shrink
        away = slope - mean[i]
        # lerp has two forms, each exact at its own end
        first = mean[i] + away * weight if near else slope - away * keep
        second = square[i] * keep2 + slope * weight2 * slope
        mean[i] = first
        square[i] = second
        if amsgrad:
            second = max(largest[i], second) if second == second else second
            largest[i] = second
        p[i] = value + first * scale / (np.sqrt(second) * inverse + least)


class _Written:
    """Flat arrays for a kernel to write; copies, where a layout needs one, are written back afterwards."""

    def __init__(self) -> None:
        self._back: list[tuple[Any, Any]] = []

    def take(self, a: Any) -> Any:
        if a.flags.carray:
            return a.reshape(-1)
        copy = np.array(a, order="C")
        self._back.append((a, copy))
        return copy.reshape(-1)

    def give_back(self) -> None:
        for a, copy in self._back:
            a[...] = copy


def _fits(p: Any, *others: Any) -> bool:
    return floating(p) and all(a.dtype is p.dtype for a in others)


def _flat(a: Any) -> Any:
    return (a if a.flags.carray else np.array(a, order="C")).reshape(-1)


def _sgd_step(plain: Any) -> Any:
    def kernel(
        xp: Any, params: Any, grads: Any, buffers: Any, found_inf: Any, lr: float, momentum: float,
        dampening: float, weight_decay: float, nesterov: bool, maximize: bool, first: bool,
    ) -> list[Any]:  # fmt: skip
        if found_inf is not None and found_inf != 0:
            return []
        for i, (p, g) in enumerate(zip(params, grads, strict=True)):
            held = buffers[i : i + 1]
            if _fits(p, g, *held):
                written = _Written()
                buffer = written.take(held[0]) if held else p.reshape(-1)[:0]
                _sgd(
                    written.take(p), _flat(g), buffer, float(lr), float(momentum), float(dampening),
                    float(weight_decay), nesterov, maximize, first,
                )  # fmt: skip
                written.give_back()
            else:
                plain(
                    xp, [p], [g], held, None, lr=lr, momentum=momentum, dampening=dampening,
                    weight_decay=weight_decay, nesterov=nesterov, maximize=maximize, first=first,
                )  # fmt: skip
        return []

    return kernel


def _adam_step(plain: Any) -> Any:
    def kernel(
        xp: Any, params: Any, grads: Any, means: Any, squares: Any, steps: Any, maxima: Any, found_inf: Any,
        lr: float, beta1: float, beta2: float, eps: float, weight_decay: float, amsgrad: bool, maximize: bool,
        decoupled: bool,
    ) -> list[Any]:  # fmt: skip
        if found_inf is not None and found_inf != 0:
            return []
        for i, (p, g, step) in enumerate(zip(params, grads, steps, strict=True)):
            held = maxima[i : i + 1]
            if _fits(p, g, means[i], squares[i], *held):
                written = _Written()
                take = written.take
                flat = take(p)
                _adam(
                    flat, _flat(g), take(means[i]), take(squares[i]), take(held[0]) if held else flat[:0],
                    take(step), float(lr), float(beta1), float(beta2), float(eps), float(weight_decay),
                    maximize, decoupled,
                )  # fmt: skip
                written.give_back()
            else:
                plain(
                    xp, [p], [g], means[i : i + 1], squares[i : i + 1], [step], held, None, lr=lr,
                    beta1=beta1, beta2=beta2, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad,
                    maximize=maximize, decoupled=decoupled,
                )  # fmt: skip
        return []

    return kernel


KERNELS = {"adam_step": _adam_step, "sgd_step": _sgd_step}
