"""Calls of batch and group norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cuda.cases import Case, Make


def _vectors(rng: np.random.Generator, t: Any, n: int, some: str) -> list[Any]:
    return [rng.random(n).astype(t) + t(0.5) if yes == "1" else None for yes in some]


def _train(shape: tuple[int, ...], some: str) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        a = rng.normal(1, 2, shape).astype(t)
        return [a, *_vectors(rng, t, shape[1], some)], {"momentum": 0.1, "eps": 1e-5}

    return make


def _eval(shape: tuple[int, ...], some: str) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        return [rng.normal(1, 2, shape).astype(t), *_vectors(rng, t, shape[1], some + "11")], {"eps": 1e-5}

    return make


def _group(shape: tuple[int, ...], groups: int, some: str) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        a = rng.normal(1, 2, shape).astype(t)
        return [a, *_vectors(rng, t, shape[1], some)], {"num_groups": groups, "eps": 1e-5}

    return make


def _backward(shape: tuple[int, ...], groups: int, wanted: list[bool], weighted: str) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        g, a = (rng.normal(0, 1, shape).astype(t) for _ in range(2))
        x = a.reshape(shape[0], groups, -1) if groups else a
        axes = (2,) if groups else (0, *range(2, a.ndim))
        mean, rstd = x.mean(axis=axes, keepdims=True), 1 / np.sqrt(x.var(axis=axes, keepdims=True) + t(1e-5))
        weight = _vectors(rng, t, shape[1], weighted)[0]
        return [g, a, mean, rstd, weight], {"wanted": wanted, "groups": groups, "eps": 1e-5}

    return make


_ALL = [True, True, True]

CASES = [
    *(
        Case("native_batch_norm", _train(shape, some), f"{shape}-{some}")
        for shape, some in (
            ((4, 3), "1111"), ((2, 3, 5, 7), "1011"), ((3, 2, 40), "0000"), ((9, 1, 9), "0111")
        )
    ),
    Case("native_batch_norm", _train((2, 1, 128, 140), "1111"), "long", 1024),
    Case("batch_norm_eval", _eval((4, 3), "11"), "affine"),
    Case("batch_norm_eval", _eval((2, 3, 9), "00")),
    *(
        Case("native_group_norm", _group(shape, groups, some), f"{shape}-{groups}-{some}")
        for shape, groups, some in (((4, 6), 3, "11"), ((2, 4, 5, 7), 2, "10"), ((2, 3, 50), 1, "00"))
    ),
    *(
        Case("channel_norm_backward", _backward(shape, groups, wanted, some), f"{shape}-{groups}-{wanted}")
        for shape, groups, wanted, some in (
            ((4, 3), 0, _ALL, "1"), ((2, 3, 5, 7), 0, [True, False, False], "0"),
            ((3, 2, 40), 0, [False, True, True], "1"), ((4, 6), 3, _ALL, "1"),
            ((2, 4, 5, 7), 2, [True, False, True], "0"), ((2, 4, 9), 4, [False, True, False], "1"),
        )
    ),
]  # fmt: skip
