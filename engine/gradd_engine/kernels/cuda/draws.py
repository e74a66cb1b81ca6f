"""Random numbers on the device: the bits of `rng` in one launch."""

from __future__ import annotations

from typing import Any

from ...data import dtypes
from .launch import each, empty, key_arguments
from .sources import REALS


def _dropout_mask(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, p: float, features: int, meta: Any, key: Any) -> Any:
        if a.dtype.char not in REALS:
            return plain(xp, a, p, features, meta=meta, key=key)
        out = empty(xp, meta.shape, a.dtype)
        each(
            xp, "dropout_mask", a.dtype.char, -(-out.size // 4), out, out.size, float(p), 1 / (1 - p),
            *key_arguments(key),
        )  # fmt: skip
        return out

    return kernel


def _drawn(name: str) -> Any:
    """For ops that draw float32 or float64 numbers, whatever their other arguments."""

    def native(plain: Any) -> Any:
        def kernel(xp: Any, *arrays: Any, meta: Any, key: Any, **attrs: Any) -> Any:
            if meta.dtype not in (dtypes.float32, dtypes.float64):
                return plain(xp, *arrays, meta=meta, key=key, **attrs)
            out = empty(xp, meta.shape, meta.dtype.np)
            many = (16 if name == "uniform" else 8) // out.itemsize
            each(xp, name, out.dtype.char, -(-out.size // many), out, out.size, *key_arguments(key))
            return out

        return kernel

    return native


def _bernoulli(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, p: Any, meta: Any, key: Any) -> Any:
        if meta.dtype not in (dtypes.float32, dtypes.float64) or not isinstance(p, (int, float)):
            return plain(xp, a, p, meta=meta, key=key)
        out = empty(xp, meta.shape, meta.dtype.np)
        each(xp, "hits", out.dtype.char, -(-out.size // 2), out, out.size, float(p), *key_arguments(key))
        return out

    return kernel


NATIVE = {
    "bernoulli_number": _bernoulli,
    "dropout_mask": _dropout_mask,
    "rand": _drawn("uniform"),
    "rand_like": _drawn("uniform"),
    "randn": _drawn("normal"),
    "randn_like": _drawn("normal"),
}
