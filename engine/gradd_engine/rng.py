"""Random bits from Philox4x32-10, our own conversion to numbers.

A random step's values depend on (seed, number of the random step, element index) alone, so no optimisation
can shift a stream and CPU and GPU agree. Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"
(SC 2011).
"""

from __future__ import annotations

from typing import Any

import numpy as np

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_MASK = (1 << 64) - 1
#: where a stream begins, as in PyTorch
SEED = 67280421310721


class Generator:
    """A stream of random steps: the seed and how many steps were drawn."""

    __slots__ = ("seed", "step")

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed & _MASK
        self.step = 0

    def manual_seed(self, seed: int) -> Generator:
        """Restart the stream; negative seeds count from 2**64, as in PyTorch."""
        self.seed = int(seed) & _MASK
        self.step = 0
        return self

    def next(self) -> tuple[int, int]:
        """The key of the next random step."""
        key = (self.seed, self.step)
        self.step += 1
        return key


def bits(key: tuple[int, int], count: int, xp: Any = np) -> Any:
    """`count` random uint32 of one random step, shape [count]."""
    blocks = -(-count // 4)
    index = xp.arange(blocks, dtype=xp.uint64)
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


def uniform(key: tuple[int, int], count: int, double: bool = False, xp: Any = np) -> Any:
    """`count` numbers in [0, 1): multiples of 2**-24 as float32, of 2**-53 as float64."""
    if double:
        raw = bits(key, 2 * count, xp).reshape(count, 2).astype(xp.uint64)
        whole = (raw[:, 0] >> np.uint64(5) << np.uint64(26)) | (raw[:, 1] >> np.uint64(6))
        return whole.astype(xp.float64) * (2.0**-53)
    return (bits(key, count, xp) >> np.uint32(8)).astype(xp.float32) * xp.float32(2.0**-24)


def normal(key: tuple[int, int], count: int, double: bool = False, xp: Any = np) -> Any:
    """`count` standard normal numbers by Box and Muller (1958), element by element from two uniforms each."""
    u = uniform(key, 2 * count, double, xp).reshape(count, 2)
    one = u.dtype.type(1)
    radius = xp.sqrt(u.dtype.type(-2) * xp.log(one - u[:, 0]))
    return radius * xp.cos(u.dtype.type(2 * np.pi) * u[:, 1])
