"""Calls of what a gradient scaler does: many gradients of many sizes, some of 16 bits, some not finite."""

from __future__ import annotations

from typing import Any

import numpy as np
from ml_dtypes import bfloat16

from tests.cuda.cases import Case, Make

_SIZES: tuple[tuple[int, ...], ...] = ((3,), (), (33, 5), (0, 4), (70, 65), (1,), (4097,))


def _scaled(lost: tuple[int, float] | None = None, many: int = 1, halves: bool = False) -> Make:
    """`lost`: in the gradient of that number, the last element is no finite number."""

    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        grads = []
        for i, shape in enumerate(_SIZES * many):
            kind = (t, np.float16, bfloat16)[i % 3] if halves else t
            grads.append(np.asarray(rng.normal(size=shape) * 100).astype(kind))
        if lost is not None:
            grads[lost[0]].reshape(-1)[-1] = lost[1]
        return [grads, np.asarray(np.float32(1536.0))], {}

    return make


def _adjusted(scale: float, streak: int, found: float, growth: float = 2.0) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        given = [np.asarray(np.float32(scale)), np.asarray(np.int32(streak)), np.asarray(np.float32(found))]
        return given, {"growth": growth, "backoff": 0.3, "interval": 5}

    return make


CASES = [
    Case("unscale_gradients", _scaled()),
    Case("unscale_gradients", _scaled((4, np.inf)), "inf"),
    Case("unscale_gradients", _scaled((6, -np.inf), many=8), "many"),
    Case("unscale_gradients", _scaled((1, np.nan), halves=True), "halves"),
    Case("unscale_gradients", _scaled(halves=True), "finite-halves"),
    Case("adjust_scale", _adjusted(65536.0, 2, 0.0), "longer"),
    Case("adjust_scale", _adjusted(65536.0, 4, 0.0), "due"),
    Case("adjust_scale", _adjusted(7.0, 4, 1.0), "skipped"),
    Case("adjust_scale", _adjusted(3e38, 4, 0.0), "too-large"),
]
