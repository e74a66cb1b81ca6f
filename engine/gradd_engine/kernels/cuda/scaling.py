"""Gradients of scaled losses on the device: one launch over many, and one for the scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .launch import WARP, kind, launch
from .packs import distinct, groups, pack
from .sources import FLOATS

if TYPE_CHECKING:
    from collections.abc import Sequence

THREADS = 256


def _unscale(plain: Any) -> Any:
    def kernel(xp: Any, grads: Sequence[Any], scale: Any) -> Any:
        fits = [kind(g) in FLOATS and g.flags.c_contiguous for g in grads]
        rest = [g for g, fit in zip(grads, fits, strict=True) if not fit]
        columns = [[g] for g, fit in zip(grads, fits, strict=True) if fit]
        if not distinct(g for (g,) in columns):
            return plain(xp, grads, scale)
        found = xp.zeros((), np.float32)
        for types, some in groups(columns, 1):
            packed = pack(some)
            chunks = int(packed["chunk"][0, -1])
            if chunks:
                launch(xp, "unscale", types, (chunks,), THREADS, packed, scale, found)
        if rest:
            xp.maximum(found, plain(xp, rest, scale), out=found)
        return found

    return kernel


def _adjust(_: Any) -> Any:
    def kernel(
        xp: Any, scale: Any, streak: Any, found_inf: Any, growth: float, backoff: float, interval: int
    ) -> list[Any]:
        numbers = float(growth), float(backoff), int(interval)
        launch(xp, "adjust_scale", "f", (1,), WARP, scale, streak, found_inf, *numbers)
        return []

    return kernel


NATIVE = {"adjust_scale": _adjust, "unscale_gradients": _unscale}
