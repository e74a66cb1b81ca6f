"""Calls of softmaxes and losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cuda.cases import Case, Make


def _soft(shape: tuple[int, ...], dim: int, hole: bool = False) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        a = rng.normal(0, 3, shape).astype(t)
        if hole:
            a[0] = -np.inf
            a[-1, ::2] = -np.inf
        return [a], {"dim": dim}

    return make


def _safe(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
    return _soft((5, 7), -1, True)(rng, t)[0], {}


def _slope(shape: tuple[int, ...], dim: int, log: bool) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        g, a = (rng.normal(0, 1, shape) for _ in range(2))
        result = np.exp(a) / np.exp(a).sum(axis=dim, keepdims=True)
        return [g.astype(t), (np.log(result) if log else result).astype(t)], {"dim": dim}

    return make


def _targets(rng: np.random.Generator, shape: tuple[int, ...], kind: str) -> tuple[Any, int]:
    classes = shape[0 if len(shape) == 1 else 1]
    rest = shape[:1] + shape[2:] if len(shape) > 1 else ()
    target = np.asarray(rng.integers(0, classes, rest), kind)
    if target.size > 4:
        target.reshape(-1)[::4] = 3
    return target, classes


def _nll(shape: tuple[int, ...], reduction: str, weighted: bool, kind: str = "int64") -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        target, classes = _targets(rng, shape, kind)
        weight = rng.random(classes).astype(t) if weighted else None
        attrs = {"reduction": reduction, "ignore_index": 3}
        return [rng.normal(0, 1, shape).astype(t), target, weight], attrs

    return make


def _nll_slope(shape: tuple[int, ...], reduction: str, weighted: bool, kind: str = "int64") -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        target, classes = _targets(rng, shape, kind)
        weight = rng.random(classes).astype(t) if weighted else None
        g = np.asarray(rng.normal(0, 1, target.shape if reduction == "none" else ())).astype(t)
        attrs = {"shape": list(shape), "reduction": reduction, "ignore_index": 3}
        return [g, target, weight, np.asarray(t(2.5))], attrs

    return make


def _holed(shape: tuple[int, ...], dim: int) -> Make:
    """Numbers with ties, and some nan and infinities."""

    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        a = rng.integers(-9, 9, shape).astype(t)
        a[rng.random(shape) < 0.003] = np.nan
        a[rng.random(shape) < 0.01] = -np.inf
        return [a], {"dim": dim}

    return make


def _pool(shape: tuple[int, ...], ceil: bool, **how: list[int]) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        a = rng.integers(-3, 4, shape).astype(t)
        a[rng.random(shape) < 0.01] = np.nan
        usual = {"kernel_size": [2, 2], "stride": [2, 2], "padding": [0, 0], "dilation": [1, 1]}
        return [a], {**usual, **how, "ceil_mode": ceil}

    return make


def _pool_slope(shape: tuple[int, ...], size: list[int]) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        places = rng.integers(0, size[0] * size[1], shape)
        return [rng.normal(0, 1, shape).astype(t), places], {"size": size}

    return make


_SHAPES = (((6,), 0), ((4, 33), 1), ((4, 33), 0), ((2, 5, 3), 1), ((3, 700), -1), ((1, 1), 0))
_LOSSES = (
    ((7, 5), "mean", True), ((130, 9), "sum", False), ((7, 5), "none", True), ((2, 5, 3, 4), "mean", False),
    ((2, 5, 3, 4), "none", True), ((5,), "mean", False), ((1, 4), "mean", True),
)  # fmt: skip

CASES = [
    *(
        Case(op, _soft(shape, dim), f"{shape}-{dim}")
        for op in ("softmax_kernel", "log_softmax_kernel")
        for shape, dim in _SHAPES
    ),
    Case("softmax_kernel", _soft((5, 7), 1, True), "holes"),
    Case("log_softmax_kernel", _soft((5, 7), 1, True), "holes"),
    Case("safe_softmax", _safe),
    *(Case("softmax_backward", _slope(shape, dim, False), f"{shape}-{dim}") for shape, dim in _SHAPES),
    *(Case("log_softmax_backward", _slope(shape, dim, True), f"{shape}-{dim}") for shape, dim in _SHAPES),
    *(
        Case("nll_loss2d" if len(shape) == 4 else "nll_loss_flat", _nll(shape, *how), f"{shape}-{how}")
        for shape, *how in _LOSSES
    ),
    *(Case("nll_loss_backward", _nll_slope(shape, *how), f"{shape}-{how}") for shape, *how in _LOSSES),
    Case("nll_loss_flat", _nll((7, 5), "mean", False, "uint8"), "bytes"),
    Case("nll_loss_backward", _nll_slope((7, 5), "mean", False, "uint8"), "bytes"),
    *(
        Case(op, _holed(shape, dim), f"{shape}-{dim}", 256)
        for op in ("cummax", "cummin", "logcumsumexp")
        for shape, dim in (((700,), 0), ((3, 40), 1), ((33, 2, 3), 0), ((2, 5), -1), ((1,), 0))
    ),
    Case("max_pool2d_with_indices", _pool((2, 3, 8, 9), False)),
    Case("max_pool2d_with_indices", _pool((1, 7, 5), True, kernel_size=[3, 2], padding=[1, 1]), "ceil"),
    Case("max_pool2d_with_indices", _pool((2, 2, 12, 7), False, dilation=[2, 3], stride=[1, 2]), "wide"),
    Case("max_pool2d_backward", _pool_slope((2, 3, 8, 9), [5, 6])),
    Case("max_pool2d_backward", _pool_slope((1, 20, 21), [9, 40]), "more"),
]
