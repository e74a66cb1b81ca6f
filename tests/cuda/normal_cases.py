"""Calls of normalising and dropping ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cuda.cases import Case, Make, meta


def _layer(lead: tuple[int, ...], own: tuple[int, ...], weight: bool, bias: bool) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        a, w, b = (rng.normal(1, 2, s).astype(t) for s in ((*lead, *own), own, own))
        given = [a, w if weight else None, b if bias else None]
        return given, {"normalized_shape": list(own), "eps": 1e-5}

    return make


def _layer_backward(lead: tuple[int, ...], own: tuple[int, ...], wanted: list[bool]) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        g, a, w = (rng.normal(0, 1, s).astype(t) for s in ((*lead, *own), (*lead, *own), own))
        axes = tuple(range(len(lead), a.ndim))
        mean = a.mean(axis=axes, keepdims=True)
        rstd = 1 / np.sqrt(a.var(axis=axes, keepdims=True) + t(1e-5))
        attrs = {"wanted": wanted, "normalized_shape": list(own), "eps": 1e-5}
        return [g, a, mean, rstd, w if wanted[1] else None], attrs

    return make


def _rms(lead: tuple[int, ...], own: tuple[int, ...], weight: bool) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        (a, w, _), attrs = _layer(lead, own, weight, False)(rng, t)
        return [a, w], attrs

    return make


def _rms_backward(lead: tuple[int, ...], own: tuple[int, ...], wanted: list[bool]) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        (g, a, _, _, w), attrs = _layer_backward(lead, own, wanted)(rng, t)
        axes = tuple(range(len(lead), a.ndim))
        rrms = (1 / np.sqrt(np.square(a.astype(np.float64)).mean(axis=axes, keepdims=True))).astype(t)
        return [g, a, rrms, w], attrs

    return make


def _mask(shape: tuple[int, ...], p: float, features: int = 0) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        kept = tuple(s if d < features or not features else 1 for d, s in enumerate(shape))
        attrs = {"p": p, "features": features, "meta": meta(kept, t), "key": (1 << 63, 9)}
        return [np.zeros(shape, t)], attrs

    return make


def _norm(shape: tuple[int, ...], dim: Any = None, keepdim: bool = False) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        attrs = {"ord": 2, "dim": dim, "keepdim": keepdim, "dtype": None}
        return [rng.normal(0, 1, shape).astype(t)], attrs

    return make


def _hits(shape: tuple[int, ...], p: float) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        return [np.zeros(shape, t)], {"p": p, "meta": meta(shape, t), "key": (77, 1 << 33)}

    return make


CASES = [
    Case("vector_norm", _norm((5, 7))),
    Case("vector_norm", _norm(()), "number"),
    Case("vector_norm", _norm((3, 4), [0, -1], True), "kept"),
    Case("vector_norm", _norm((300, 301)), "long", 2048),
    Case("bernoulli_number", _hits((3, 5), 0.4), "", 0),
    Case("bernoulli_number", _hits((1000,), 0.9), "many", 0),
    *(
        Case("native_layer_norm", _layer(lead, own, w, b), f"{lead}-{own}-{w}-{b}")
        for lead, own, w, b in (
            ((5,), (7,), True, True), ((2, 3), (33,), True, False), ((1,), (300,), False, True),
            ((3,), (4, 5), False, False), ((2,), (1,), True, True), ((2,), (1500,), True, True),
        )
    ),
    *(
        Case("native_layer_norm_backward", _layer_backward(lead, own, wanted), f"{lead}-{own}-{wanted}")
        for lead, own, wanted in (
            ((5,), (7,), [True, True, True]), ((2, 3), (33,), [True, False, False]),
            ((600,), (3, 11), [False, True, True]), ((70,), (40,), [True, True, False]),
            ((3,), (500,), [False, False, True]),
        )
    ),
    *(
        Case("native_rms_norm", _rms(lead, own, w), f"{lead}-{own}-{w}")
        for lead, own, w in (((5,), (7,), True), ((2, 3), (33,), False), ((3,), (4, 500), True))
    ),
    *(
        Case("native_rms_norm_backward", _rms_backward(lead, own, wanted), f"{lead}-{own}-{wanted}")
        for lead, own, wanted in (
            ((5,), (7,), [True, True]), ((2, 3), (33,), [True, False]), ((600,), (3, 11), [False, True]),
        )
    ),
    *(
        Case("dropout_mask", _mask(shape, p, features), f"{shape}-{p}-{features}", 0)
        for shape, p, features in (((5,), 0.5, 0), ((33, 41), 0.1, 0), ((2, 3, 4), 0.3, 2), ((1,), 0.9, 0))
    ),
]  # fmt: skip
