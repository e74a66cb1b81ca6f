"""The greatest common divisor and least common multiple of integers.

Source: https://pytorch.org/docs/stable/generated/torch.gcd.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import dtypes
from ...declare import kernel
from ...schema import Op
from ..shared import broadcast

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...data import Meta
    from ...tensor import Tensor


def _integers(name: str, impl: Callable[[Any, Any, Any], Any], doc: str) -> Op:
    def infer(input: Tensor, other: Tensor) -> Meta:
        meta = broadcast(input, other)
        if meta.dtype.category != dtypes.INT:
            raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{meta.dtype.title}'")
        return meta

    return kernel(
        f"{name}(Tensor input, Tensor other) -> Tensor",
        infer=infer,
        impl=impl,
        method=True,
        inplace=True,
        doc=doc,
        raises=False,
    )


gcd = _integers("gcd", lambda xp, a, b: xp.gcd(a, b), "The non-negative greatest common divisor (torch.gcd).")
lcm = _integers("lcm", lambda xp, a, b: xp.lcm(a, b), "The non-negative least common multiple (torch.lcm).")
