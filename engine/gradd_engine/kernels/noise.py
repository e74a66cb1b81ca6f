"""Random numbers: the bits of `rng`, generated where they are used."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import floating
from .native import REAL, UINT32, compiled, inlined

u32, u64 = np.uint32, np.uint64


@inlined
def _philox(block: Any, step0: Any, step1: Any, k0: Any, k1: Any) -> Any:
    """Four random uint32, as uint64, of block `block` of a random step."""
    low = u64(0xFFFFFFFF)
    c0, c1, c2, c3 = block & low, block >> u64(32), u64(step0), u64(step1)
    k0, k1 = u64(k0), u64(k1)
    for _ in range(10):
        p0, p1 = c0 * u64(0xD2511F53), c2 * u64(0xCD9E8D57)
        c0, c1, c2, c3 = (p1 >> u64(32)) ^ c1 ^ k0, p1 & low, (p0 >> u64(32)) ^ c3 ^ k1, p0 & low
        k0, k1 = (k0 + u64(0x9E3779B9)) & low, (k1 + u64(0xBB67AE85)) & low
    return c0, c1, c2, c3


@compiled(REAL, REAL, UINT32, UINT32, UINT32, UINT32, 2)
def _mask(p: Any, scale: Any, k0: Any, k1: Any, step0: Any, step1: Any, out: Any) -> None:
    """0 where a uniform number is below `p`, otherwise `scale`; in rows of four."""
    number = out.dtype.type
    unit, zero = number(2.0**-24), number(0)
    for i in range(out.shape[0]):
        a, b, c, d = _philox(u64(i), step0, step1, k0, k1)
        out[i, 0] = scale if number(a >> u64(8)) * unit >= p else zero
        out[i, 1] = scale if number(b >> u64(8)) * unit >= p else zero
        out[i, 2] = scale if number(c >> u64(8)) * unit >= p else zero
        out[i, 3] = scale if number(d >> u64(8)) * unit >= p else zero


def _dropout_mask(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, p: float, features: int, meta: Any, key: tuple[int, int]) -> Any:
        if not floating(a):
            return plain(xp, a, p, features, meta=meta, key=key)
        number = a.dtype.type
        out = np.empty(meta.shape, a.dtype)
        count = out.size
        rows = np.empty((-(-count // 4), 4), a.dtype) if count % 4 else out.reshape(-1, 4)
        seed, step = key
        _mask(
            number(p), number(1 / (1 - p)), u32(seed & 0xFFFFFFFF), u32(seed >> 32), u32(step & 0xFFFFFFFF),
            u32(step >> 32), rows,
        )  # fmt: skip
        if count % 4:
            out[...] = rows.reshape(-1)[:count].reshape(out.shape)
        return out

    return kernel


KERNELS = {"dropout_mask": _dropout_mask}
