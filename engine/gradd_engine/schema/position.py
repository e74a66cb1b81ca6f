"""Where an argument stands in the call that the user wrote: PyTorch counts a method's without ``self``."""

from __future__ import annotations

import sys

#: calls that stand between a function of the user's and the refusal of its arguments, at most
_DEEP = 16


def position(name: str, at: int) -> int:
    """Where argument `at`, counted from 0 with ``self``, stands in the call of `name` under way, from 1."""
    frame = sys._getframe(1)
    for _ in range(_DEEP):
        if frame.f_code.co_qualname == f"Tensor.{name}":
            return at
        if frame.f_back is None:
            break
        frame = frame.f_back
    return at + 1
