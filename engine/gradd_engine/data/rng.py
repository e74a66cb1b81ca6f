"""Random bits from Philox4x32-10, our own conversion to numbers.

A random step's values depend on (seed, number of the random step, element index) alone, so no optimisation
can shift a stream and CPU and GPU agree. Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"
(SC 2011).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_MASK = (1 << 64) - 1
#: elements that are made at once: bits take many times the memory of the numbers made of them
BLOCK, ON_GPU = 1 << 16, 1 << 22
#: where a stream begins, as in PyTorch
SEED = 67280421310721


class RandomStream:
    """A stream of random steps: the seed and how many steps were drawn."""

    __slots__ = ("seed", "step")

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed & _MASK
        self.step = 0

    def manual_seed(self, seed: int) -> RandomStream:
        """Restart the stream; negative seeds count from 2**64, as in PyTorch."""
        self.seed = int(seed) & _MASK
        self.step = 0
        return self

    def next(self) -> tuple[int, int]:
        """The key of the next random step."""
        key = (self.seed, self.step)
        self.step += 1
        return key


def blockwise(count: int, make: Callable[[int, int], Any], xp: Any = np) -> Any:
    """The `count` elements of which ``make(first, n)`` gives `n` from `first` on, made block by block."""
    step = BLOCK if xp is np else ON_GPU
    if count <= step:
        return make(0, count)
    part = make(0, step)
    out = xp.empty(count, part.dtype)
    out[:step] = part
    for first in range(step, count, step):
        out[first : first + step] = make(first, min(step, count - first))
    return out


def bits(key: tuple[int, int], count: int, xp: Any = np, first: int = 0) -> Any:
    """`count` random uint32 of one random step from element `first`, a multiple of 4, on; shape [count].

    They take ten times their memory while they are made; see `blockwise`.
    """
    blocks = -(-count // 4)
    index = xp.arange(blocks, dtype=xp.uint64)
    if first:
        index += np.uint64(first // 4)
    c0, c1 = index & _LOW, index >> _SHIFT
    c2 = xp.full(blocks, key[1] & 0xFFFFFFFF, dtype=xp.uint64)
    c3 = xp.full(blocks, key[1] >> 32, dtype=xp.uint64)
    k0, k1 = key[0] & 0xFFFFFFFF, key[0] >> 32
    for _ in range(10):
        p0, p1 = c0 * _M0, c2 * _M1
        c0, c1, c2, c3 = (
            (p1 >> _SHIFT) ^ c1 ^ np.uint64(k0),
            p1 & _LOW,
            (p0 >> _SHIFT) ^ c3 ^ np.uint64(k1),
            p0 & _LOW,
        )
        k0, k1 = (k0 + _W0) & 0xFFFFFFFF, (k1 + _W1) & 0xFFFFFFFF
    return xp.stack((c0, c1, c2, c3), axis=1).reshape(-1)[:count].astype(xp.uint32)


def uniform(key: tuple[int, int], count: int, double: bool = False, xp: Any = np, first: int = 0) -> Any:
    """`count` numbers in [0, 1) from element `first` on: multiples of 2**-24 as float32, of 2**-53 as
    float64.
    """
    if double:
        raw = bits(key, 2 * count, xp, 2 * first).reshape(count, 2).astype(xp.uint64)
        whole = (raw[:, 0] >> np.uint64(5) << np.uint64(26)) | (raw[:, 1] >> np.uint64(6))
        return whole.astype(xp.float64) * (2.0**-53)
    return (bits(key, count, xp, first) >> np.uint32(8)).astype(xp.float32) * xp.float32(2.0**-24)


def normal(key: tuple[int, int], count: int, double: bool = False, xp: Any = np, first: int = 0) -> Any:
    """`count` standard normal numbers from element `first` on, by Box and Muller (1958), each from two
    uniforms of its own.
    """
    u = uniform(key, 2 * count, double, xp, 2 * first).reshape(count, 2)
    one = u.dtype.type(1)
    radius = xp.sqrt(u.dtype.type(-2) * xp.log(one - u[:, 0]))
    return radius * xp.cos(u.dtype.type(2 * np.pi) * u[:, 1])
