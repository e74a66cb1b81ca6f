"""Random numbers for ops, drawn in blocks from the bits of one random step to limit temporary memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import dtypes, numel, rng
from ..shared import CPP

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...data import DType, Meta

#: the names of dtypes where this is quoted, where they differ from `CPP`
_UNSIGNED = {"uint16": "short unsigned int", "uint64": "long unsigned int"}


def _numbers(xp: Any, meta: Meta, draw: Callable[..., Any], finish: Callable[[Any], Any] | None) -> Any:
    """Draw a result's numbers by ``draw(count, double, first)``, passing each block through `finish`."""
    double = meta.dtype in (dtypes.float64, dtypes.complex128)

    def make(first: int, count: int) -> Any:
        found = draw(count, double, first)
        return found if finish is None else finish(found)

    return rng.blockwise(numel(meta.shape), make, xp).reshape(meta.shape)


def _pairs(xp: Any, draw: Callable[..., Any], key: Any, count: int, double: bool, first: int) -> Any:
    both = draw(key, 2 * count, double, xp, 2 * first).reshape(count, 2)
    return both[:, 0] + 1j * both[:, 1]


def uniform_array(xp: Any, key: Any, meta: Meta, finish: Callable[[Any], Any] | None = None) -> Any:
    """Uniform numbers in [0, 1), passed through `finish`; never 1 after rounding to the result's dtype."""

    def draw(count: int, double: bool, first: int) -> Any:
        if meta.dtype.is_complex:
            return _pairs(xp, rng.uniform, key, count, double, first)
        u = rng.uniform(key, count, double, xp, first)
        if meta.dtype.is_half:
            steps = 2048 if meta.dtype is dtypes.float16 else 256
            u = xp.floor(u * u.dtype.type(steps)) / u.dtype.type(steps)
        return u

    return _numbers(xp, meta, draw, finish)


def normal_array(xp: Any, key: Any, meta: Meta, finish: Callable[[Any], Any] | None = None) -> Any:
    """Standard normal numbers, passed through `finish`; complex ones have total variance 1."""

    def draw(count: int, double: bool, first: int) -> Any:
        if not meta.dtype.is_complex:
            return rng.normal(key, count, double, xp, first)
        found = _pairs(xp, rng.normal, key, count, double, first)
        return found * found.real.dtype.type(0.5**0.5)

    return _numbers(xp, meta, draw, finish)


def hits(xp: Any, key: Any, p: Any, meta: Meta) -> Any:
    """Whether uniform float64 numbers in [0, 1) are below `p`, a scalar or one value per element."""
    each = p.reshape(-1) if getattr(p, "ndim", 0) else None

    def make(first: int, count: int) -> Any:
        return rng.uniform(key, count, True, xp, first) < (p if each is None else each[first : first + count])

    return rng.blockwise(numel(meta.shape), make, xp).reshape(meta.shape)


def _wide(xp: Any, key: Any, count: int, first: int) -> Any:
    raw = rng.bits(key, 2 * count, xp, 2 * first).reshape(count, 2).astype(xp.uint64)
    return raw[:, 0] << xp.uint64(32) | raw[:, 1]


def check_range(low: int, high: int, dtype: DType) -> None:
    """Raise PyTorch's RuntimeError unless there are integers from `low` to below `high`, and `dtype` has
    them.
    """
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if dtype.is_complex:
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    if dtype.is_floating_point:
        least, most = (-65504, 65504) if dtype is dtypes.float16 else (low, high)
    elif dtype is dtypes.bool_:
        least, most = 0, 1
    else:
        least, most = int(np.iinfo(dtype.np).min), int(np.iinfo(dtype.np).max)
    for what, n in (("from", low), ("to - 1", high - 1)):
        if not least <= n <= most:
            name = _UNSIGNED.get(dtype.name, CPP[dtype.name])
            raise RuntimeError(f"{what} is out of bounds for {name}")


def integers(xp: Any, key: Any, low: int, high: int, meta: Meta) -> Any:
    """Integers from `low` (inclusive) to `high` (exclusive)."""

    def make(first: int, count: int) -> Any:
        return (_wide(xp, key, count, first) % xp.uint64(high - low)).astype(xp.int64) + low

    return rng.blockwise(numel(meta.shape), make, xp).reshape(meta.shape)


def permutation(xp: Any, key: Any, n: int) -> Any:
    """A random permutation of the integers below `n`."""
    drawn = rng.blockwise(n, lambda first, count: _wide(xp, key, count, first), xp)
    return xp.argsort(drawn, kind="stable")
